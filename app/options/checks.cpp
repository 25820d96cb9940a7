#include "app/options/checks.h"

#include <fmt/format.h>

#include <filesystem>

#include "app/input_identity.h"
#include "app/options/overrides.h"
#include "pipeline/error.h"
#include "pipeline/source/ffmpeg/hardware.h"

namespace saccade {
namespace {

// The option by the name the user knows it by: its place in a file, or --name.
class Given {
 public:
  explicit Given(const GivenValues& values) : values_(values) {}
  bool has(std::string_view name) const { return values_.find(name) != values_.end(); }
  // Typed now: settings files hold everything, also what another setting leaves without effect.
  bool on_command_line(std::string_view name) const {
    return has(name) && values_.find(name)->second.origin.substr(0, 2) == "--";
  }
  bool is_true(std::string_view name) const { return has(name) && values_.find(name)->second.text == "true"; }

  [[noreturn]] void fail(std::string_view name, const std::string& fault) const {
    const auto found = values_.find(name);
    throw UsageError(
        fmt::format("{}: {}", found != values_.end() ? found->second.origin : fmt::format("--{}", name), fault));
  }
  // Of contradictions(), those of this kind of lattice.
  void exclude_pairs(std::string_view lattice) const {
    for (const Contradiction& pair : contradictions()) {
      if (pair.lattice != lattice || !has(pair.one) || !has(pair.other)) continue;
      fail(pair.one, fmt::format("contradicts --{}: {}; leave one out", pair.other, pair.why));
    }
  }

 private:
  const GivenValues& values_;
};

void check_lattice(const LatticeConfig& lattice, const Given& given) {
  const bool nested = lattice.kind == LatticeKind::kNested;
  given.exclude_pairs("");
  if (given.has("lod") && lattice.kind != LatticeKind::kUniform) given.fail("lod", "needs --lattice uniform");
  for (const char* name : {"strides", "grid-sizes"}) {
    if (given.has(name) && !nested) given.fail(name, "needs --lattice nested");
  }
  for (const char* name : {"e0", "m0", "preset"}) {
    if (given.on_command_line(name) && lattice.kind == LatticeKind::kUniform)
      given.fail(name, "--lattice uniform has one resolution: --lod");
  }
  if (given.has("strides") != given.has("grid-sizes")) {
    given.fail(given.has("strides") ? "strides" : "grid-sizes", "--strides and --grid-sizes come together");
  }
  if (lattice.strides.size() != lattice.grid_sizes.size()) {
    given.fail("grid-sizes", fmt::format("has {} values, --strides has {}; each ring needs both",
                                         lattice.grid_sizes.size(), lattice.strides.size()));
  }
  if (!nested) return;
  given.exclude_pairs("nested");
  if (given.has("m0") && !given.has("e0"))
    given.fail("m0", "needs --e0 as well: the nested lattice solves for M0 = e0");
}

// auto: the card decodes where it also holds the texture, unless --vf needs the frames on the host.
void choose_decoder(Options& options) {
  const bool on_card = options.pipeline.backend == Backend::kCuda;
  const bool asked = options.hwdec == "cuda" || options.require_hwdec;
  if (options.hwdec == "no" || (!asked && !on_card)) return;
  if (!asked && !options.source.filters.empty()) {
    options.source.why_no_hwdec = "--vf needs the frames on the host";
    return;
  }
  const std::string why_not = why_no_cuda_decoding();
  if (asked && !why_not.empty()) {
    throw UnavailableError(fmt::format("{}: {}; leave it out to decode on the CPU",
                                       options.require_hwdec ? "--require-hwdec" : "--hwdec cuda", why_not));
  }
  if (!why_not.empty()) {
    options.source.why_no_hwdec = why_not;
    return;
  }
  options.source.hwdec = HwDecode::kCuda;
  options.source.require_hwdec = options.require_hwdec;
  options.source.keep_on_card = on_card;
}

bool needs_output(const Options& options) {
  if (options.command == Command::kReconstruct) return options.reconstruct.against.empty();
  return options.command == Command::kDump;
}

}  // namespace

void check_contradictions(const Options& options, const GivenValues& values) {
  const Given given(values);
  if (given.is_true("overwrite") && given.is_true("resume")) {
    given.fail("overwrite", "contradicts --resume: one replaces the dump, the other keeps it; leave one out");
  }
  const SampleFormat& samples = options.pipeline.samples;
  if (samples.type == SampleType::kU8 && samples != SampleFormat{}) {
    given.fail("normalize", "u8 samples can't be normalized; add --dtype f16 or --dtype f32");
  }
  if (options.view.offscreen && options.view.screenshots.empty()) {
    given.fail("offscreen", "nothing is shown without a window; add --screenshot T=FILE.png");
  }
  if (!options.view.offscreen && !options.view.screenshots.empty()) {
    given.fail("screenshot", "needs --offscreen; in the window, s saves a picture");
  }
  if (options.require_hwdec && options.hwdec == "no") {
    given.fail("require-hwdec", "contradicts --hwdec no; leave one out");
  }
  check_lattice(options.pipeline.lattice, given);
  // A policy's argument is read where it is made; a file is left for then.
  const ScanpathConfig& scanpath = options.pipeline.scanpath;
  if (scanpath.policy != FixationPolicy::kFile) static_cast<void>(make_scanpath(scanpath, FrameGeometry{64, 64}));
}

// What is written must not be what is read.
void refuse_input_as_output(const char* option, const std::string& output, const std::string& input) {
  const std::string path = regular_file(input);
  std::error_code ignored;
  if (path.empty() || output.empty() || !std::filesystem::equivalent(path, output, ignored)) return;
  throw UsageError(fmt::format("{} {}: is the input itself; give another name", option, output));
}

void check_inputs(Options& options) {
  const std::string command = name(options.command);
  const std::size_t count = options.inputs.size();
  if (count == 0 && options.command != Command::kInfo) {
    throw UsageError(fmt::format("{}: no INPUT was given; `saccade {} --help` shows how", command, command));
  }
  for (const auto& input : options.inputs) {
    if (input.empty()) throw UsageError(fmt::format("{}: an INPUT is an empty name", command));
  }
  const bool takes_one = options.command == Command::kProfile || options.command == Command::kReconstruct ||
                         options.command == Command::kView;
  if (count > 1 && takes_one) {
    throw UsageError(fmt::format("{}: takes one INPUT, but got {}: '{}', '{}'", command, count, options.inputs[0],
                                 options.inputs[1]));
  }
  const std::string& output =
      options.command == Command::kReconstruct ? options.reconstruct.output : options.dump.output;
  if (output.empty() && needs_output(options)) {
    throw UsageError(fmt::format("{}: no output was given; add -o {}", command,
                                 options.command == Command::kDump ? "DIR" : "out.mp4, -o out.png or --against VIDEO"));
  }
  for (const std::string& input : options.inputs) {
    refuse_input_as_output("--trace", options.profile.trace, input);
    for (const auto& shot : options.view.screenshots) refuse_input_as_output("--screenshot", shot.path, input);
  }
  refuse_input_as_output("-o", options.reconstruct.output, options.reconstruct.against);
  if (options.command == Command::kReconstruct) {
    options.reconstruct.directory = options.inputs[0];
    options.inputs.clear();
  }
}

void choose_devices(Options& options) {
  if (options.command == Command::kDump || options.command == Command::kProfile) {
    options.pipeline.backend = choose_backend(options.backend, options.backend_reason);
  }
  if (options.command == Command::kView) {
    if (options.backend == "cpu") {
      throw UsageError("--backend cpu: the viewer draws from OpenGL's textures; use --backend gl, cuda or auto");
    }
    options.pipeline.backend =
        options.backend == "auto" ? Backend::kGl : choose_backend(options.backend, options.backend_reason);
  }
  const bool runs =
      options.command == Command::kDump || options.command == Command::kProfile || options.command == Command::kView;
  if (runs && options.pipeline.backend == Backend::kCpu && options.pipeline.upload != UploadPath::kAuto) {
    throw UsageError(
        fmt::format("--upload {}: backend cpu uploads to no GPU; use --backend gl or cuda, or leave it out",
                    options.pipeline.upload == UploadPath::kPbo ? "pbo" : "direct"));
  }
  choose_decoder(options);
}

SessionConfig session_config(const Options& options, const std::string& uri) {
  SessionConfig config;
  config.source = options.source;
  config.source.uri = uri;
  config.pipeline = options.pipeline;
  config.policy = options.queue_policy;
  config.threshold_given = options.threshold_given;
  config.log = options.source.log;
  return config;
}

}  // namespace saccade
