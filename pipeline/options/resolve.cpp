#include "pipeline/options/resolve.h"

#include <fmt/format.h>

#include <filesystem>

#include "pipeline/backend/backend.h"
#include "pipeline/options/option_error.h"
#include "pipeline/options/values.h"
#include "pipeline/run/ignore_mask.h"
#include "pipeline/source/ffmpeg/hardware.h"

namespace saccade {
namespace {

// A policy's argument is read where the policy is made; a file, and what needs the frame's size, are left for then.
void check_fixation(const StreamOptions& options) {
  ScanpathConfig scanpath = options.pipeline.scanpath;
  scanpath.ignore = {};
  if (scanpath.policy == FixationPolicy::kFile) return;
  static_cast<void>(make_scanpath(scanpath, FrameGeometry{64, 64}));
  if (options.gaze_is_stored) return;
  if (scanpath.gaze == GazeMode::kRaw) {
    throw OptionError::naming("gaze", "follows the rows of a file; add {+fixation} file:PATH", name(GazeMode::kRaw));
  }
  if (scanpath.gaze_units != GazeUnits{}) {
    throw OptionError::naming("gaze-units", "says what a file's numbers are; add {+fixation} file:PATH",
                              print_gaze_units(scanpath.gaze_units));
  }
}

void check_upload(const StreamOptions& options, std::string_view backend, const BackendTraits& can) {
  if (can.uploads || options.pipeline.upload == UploadPath::kAuto) return;
  throw OptionError::naming("upload",
                            fmt::format("{} {} uploads to no GPU; use {{+backend}} {}, or leave it out",
                                        options.backend == kAutoBackend ? "backend" : "{backend}", backend,
                                        or_list(backends_that(&BackendTraits::uploads))),
                            name(options.pipeline.upload));
}

void settle_backend(StreamOptions& options, StreamUse use) {
  if (use == StreamUse::kInspect) return;
  const bool draws = use == StreamUse::kDraw;
  const BackendTraits* asked = traits_of(options.backend);
  if (draws && asked != nullptr && !asked->draws) {
    throw OptionError::naming("backend",
                              fmt::format("pictures are drawn from OpenGL's textures; use {{+backend}} {}",
                                          or_list(backends_that(&BackendTraits::draws) + "|auto")),
                              options.backend);
  }
  options.pipeline.backend = draws && options.backend == kAutoBackend
                                 ? first_that(&BackendTraits::draws)
                                 : choose_backend(options.backend, options.backend_reason, options.pipeline.device);
  check_upload(options, name(options.pipeline.backend), traits(options.pipeline.backend));
}

// auto: the device decodes where it also holds the texture, unless filters need the frames on the host.
void settle_decoder(StreamOptions& options) {
  options.source.hwdec = HwDecode::kNo;
  options.source.why_no_hwdec.clear();
  options.source.require_hwdec = options.source.keep_on_device = false;
  const HwDecode of_backend = traits(options.pipeline.backend).decoder;
  const bool named = options.hwdec && options.hwdec != HwDecode::kNo;
  const bool asked = named || options.require_hwdec;
  const HwDecode wanted = wanted_decoder(options, of_backend);
  if (wanted == HwDecode::kNo) {
    const bool left_to_us = !options.hwdec && of_backend != HwDecode::kNo;
    if (left_to_us) options.source.why_no_hwdec = "filters need the frames on the host";
    return;
  }
  const std::string why_not = why_no_decoding(wanted, options.source.device);
  if (asked && !why_not.empty()) {
    const OfOption option = options.require_hwdec ? OfOption("require-hwdec") : OfOption("hwdec", name(wanted));
    throw UnavailableError(option, why_not, Hint::kCpuDecoding);
  }
  if (!why_not.empty()) {
    options.source.why_no_hwdec = why_not;
    return;
  }
  options.source.hwdec = wanted;
  options.source.require_hwdec = options.require_hwdec;
  options.source.keep_on_device = wanted == of_backend;
}

}  // namespace

HwDecode wanted_decoder(const StreamOptions& options, HwDecode of_backend) {
  if (options.hwdec) return *options.hwdec;
  if (options.require_hwdec) return of_backend != HwDecode::kNo ? of_backend : kAnyHwDecode;
  return options.source.filters.empty() ? of_backend : HwDecode::kNo;
}

void settle_eye(StreamOptions& options) {
  if (auto* adaptive = std::get_if<AdaptiveShape>(&options.pipeline.lattice.shape)) {
    adaptive->eye = options.lattice.eye.value_or(default_eye(options.pipeline.scanpath.policy));
  }
}

void check_options(StreamOptions& options) {
  const SampleFormat& samples = options.pipeline.samples;
  if (samples.type == SampleType::kU8 && samples != SampleFormat{}) {
    throw OptionError::naming("normalize", "u8 samples can't be normalized; add {+dtype} f16 or {+dtype} f32");
  }
  if (options.require_hwdec && options.hwdec == HwDecode::kNo) {
    throw OptionError::naming("require-hwdec", "conflicts with {hwdec} no; leave one out");
  }
  options.pipeline.lattice = lattice_of(options.lattice);
  settle_eye(options);
  options.pipeline.scanpath.fov_deg = options.lattice.fov_deg;
  options.source.device = options.pipeline.device;
  options.source.live.assume_live = options.queue_policy == QueuePolicy::kLatest;
  options.source.live.drop_late = options.queue_policy != QueuePolicy::kBlock;
  check_fixation(options);
}

void check_named_backend(const StreamOptions& options) {
  if (const BackendTraits* can = traits_of(options.backend)) check_upload(options, options.backend, *can);
}

void resolve(StreamOptions& options, StreamUse use) {
  check_options(options);
  if (use != StreamUse::kInspect) read_masks(options.pipeline.scanpath.ignore);
  settle_backend(options, use);
  settle_decoder(options);
}

void check_files(const StreamOptions& options) {
  constexpr int kAnyFrame_px = 1 << 16;  // what is wrong on it is wrong on every frame
  IgnoreRegions ignore = options.pipeline.scanpath.ignore;
  read_masks(ignore);
  ScanpathConfig scanpath = options.pipeline.scanpath;
  if (scanpath.policy != FixationPolicy::kFile || scanpath.recorded) return;
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(scanpath.argument, ignored);
  if (std::filesystem::exists(status) && !is_regular_file(status) && !is_directory(status)) {
    throw InputError(OfOption("fixation", fmt::format("file:{}", scanpath.argument)),
                     "can be read once, and is wanted for each input; give a file");
  }
  scanpath.ignore = {};
  static_cast<void>(make_scanpath(scanpath, FrameGeometry{kAnyFrame_px, kAnyFrame_px}));
}

void name_files_wholly(StreamOptions& options) {
  const auto whole = [](const std::string& path) {
    return std::filesystem::absolute(path).lexically_normal().string();
  };
  ScanpathConfig& scanpath = options.pipeline.scanpath;
  if (scanpath.policy == FixationPolicy::kFile && !scanpath.recorded) scanpath.argument = whole(scanpath.argument);
  for (std::string& file : scanpath.ignore.mask_files) file = whole(file);
  if (scanpath.ignore.mask_files.empty()) return;
  IgnoreRegions told = scanpath.ignore;
  told.masks.clear();
  const std::string text = print_ignore(told);
  if (parse_ignore(text) != told) {
    throw OptionError::naming("ignore", "the whole path of a mask holds a ';' or a line end; move it elsewhere", text);
  }
}

std::string why_no_decoder(const StreamOptions& options) {
  return options.source.hwdec == HwDecode::kNo ? "" : why_no_decoding(options.source.hwdec, options.source.device);
}

SessionConfig session_config(const StreamOptions& options, const std::string& uri) {
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
