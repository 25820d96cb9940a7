// Options of the pipeline: the texture and its damage, the fovea and its patches, the scanpath, what is emitted.
#include <fmt/format.h>

#include "pipeline/error.h"
#include "pipeline/options/normalizations.h"
#include "pipeline/options/table.h"
#include "pipeline/options/values.h"

namespace saccade {
namespace {

void parse_threshold(const OptionSpec& spec, StreamOptions& options, const std::string& text) {
  parse_value(spec, text, options.pipeline.diff.threshold);
  options.threshold_given = true;
}

std::optional<std::string> print_threshold(const StreamOptions& options) {
  if (!options.threshold_given) return std::nullopt;
  return print_integer(options.pipeline.diff.threshold);
}

// A kind; of `uniform` its level of detail may follow.
void parse_lattice(const OptionSpec& spec, StreamOptions& options, const std::string& text) {
  const std::size_t colon = parse_text(text).find(':');
  const std::string kind = parse_choice(spec, text.substr(0, colon));
  if (colon != std::string::npos) {
    if (kind != name(LatticeKind::kUniform)) throw UsageError("'" + text + "': only uniform takes a level of detail");
    set_option(options, "lod", text.substr(colon + 1));
  }
  options.lattice.kind = *from_name<LatticeKind>(kind);
}

std::optional<std::string> print_lattice(const StreamOptions& options) { return name(kind_in_force(options.lattice)); }

std::string preset_names() {
  std::string list;
  for (const FoveaPreset& preset : kFoveaPresets) list.append(list.empty() ? "" : "|").append(preset.name);
  return list;
}

void parse_preset(const OptionSpec& spec, StreamOptions& options, const std::string& text) {
  options.lattice.preset = find_preset(parse_choice(spec, text));
}

std::optional<std::string> print_preset(const StreamOptions& options) {
  return options.lattice.preset != nullptr ? std::optional<std::string>(options.lattice.preset->name) : std::nullopt;
}

void parse_patch_size(const OptionSpec& spec, StreamOptions& options, const std::string& text) {
  const std::int64_t size = parse_integer(spec, text);
  if (size % 2 != 0) throw UsageError(fmt::format("'{}' is odd; a patch has an even side", size));
  options.lattice.patch_size = static_cast<int>(size);
}

std::optional<std::string> print_patch_size(const StreamOptions& options) {
  return print_integer(options.lattice.patch_size);
}

// "128", "128px" or "4deg".
void parse_fovea(const OptionSpec&, StreamOptions& options, const std::string& text) {
  std::size_t end = parse_text(text).find_first_not_of("0123456789.eE+-");
  const std::string unit = end == std::string::npos ? "px" : text.substr(end);
  const std::string number = text.substr(0, end);
  if (unit != "px" && unit != "deg") throw UsageError("'" + text + "' is no width; write 128, 128px or 4deg");
  const OptionSpec width{
      .name = "fovea", .group = kFoveaGroup, .help = "", .kind = ValueKind::kNumber, .lo = 1e-3, .hi = 1e6};
  options.lattice.fovea = FoveaWidth{.value = parse_number(width, number), .degrees = unit == "deg"};
}

std::optional<std::string> print_fovea(const StreamOptions& options) {
  if (!options.lattice.fovea) return std::nullopt;
  return print_number(options.lattice.fovea->value) + (options.lattice.fovea->degrees ? "deg" : "");
}

// "4000" tokens, or "30s".
void parse_context(const OptionSpec&, StreamOptions& options, const std::string& text) {
  const std::string whole = parse_text(text);
  const bool seconds = !whole.empty() && whole.back() == 's';
  const OptionSpec length{.name = "context",
                          .group = kFoveaGroup,
                          .help = "",
                          .kind = seconds ? ValueKind::kNumber : ValueKind::kInteger,
                          .lo = seconds ? 1e-3 : 1,
                          .hi = 1e6};
  const std::string number = seconds ? whole.substr(0, whole.size() - 1) : whole;
  try {
    const double value = seconds ? parse_number(length, number) : static_cast<double>(parse_integer(length, number));
    options.lattice.context = ContextLength{.value = value, .seconds = seconds};
  } catch (const UsageError&) {
    throw UsageError(fmt::format(
        "'{}' is neither a number of tokens, such as 4000, nor seconds, such as 30s; at most 1000000 of either", text));
  }
}

std::optional<std::string> print_context(const StreamOptions& options) {
  if (!options.lattice.context) return std::nullopt;
  return print_number(options.lattice.context->value) + (options.lattice.context->seconds ? "s" : "");
}

// How a policy is asked for: its name, and what may follow it.
const char* argument_form(FixationPolicy policy) {
  switch (policy) {
    case FixationPolicy::kCenter:
      return "[:U,V]";
    case FixationPolicy::kRaster:
      return "[:COLSxROWS]";
    case FixationPolicy::kFile:
      return ":PATH";
    case FixationPolicy::kNovelty:
    case FixationPolicy::kSaliency:
    case FixationPolicy::kRandom:
      break;
  }
  return "";
}

std::string fixation_forms() {
  std::string list;
  for (const auto& [policy, text] : names_of(FixationPolicy{}))
    list.append(list.empty() ? "" : "|").append(text).append(argument_form(policy));
  return or_list(list);
}

void parse_fixation(const OptionSpec&, StreamOptions& options, const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string word = parse_text(text).substr(0, colon);
  const std::string argument = colon == std::string::npos ? "" : text.substr(colon + 1);
  const auto policy = from_name<FixationPolicy>(word);
  if (!policy) throw UsageError("'" + word + "' is not " + fixation_forms());
  if (policy == FixationPolicy::kFile && argument.empty()) throw UsageError("'file' needs a path: file:PATH");
  if (!argument.empty() && *argument_form(*policy) == '\0') {
    throw UsageError("'" + word + "' takes no argument; leave out ':" + argument + "'");
  }
  ScanpathConfig asked;
  asked.policy = *policy;
  asked.argument = argument;
  if (policy != FixationPolicy::kFile) static_cast<void>(make_scanpath(asked, FrameGeometry{64, 64}));  // may refuse it
  options.pipeline.scanpath.policy = *policy;
  options.pipeline.scanpath.argument = argument;
}

std::optional<std::string> print_fixation(const StreamOptions& options) {
  const ScanpathConfig& scanpath = options.pipeline.scanpath;
  return fmt::format("{}{}{}", name(scanpath.policy), scanpath.argument.empty() ? "" : ":", scanpath.argument);
}

void parse_units(const OptionSpec&, StreamOptions& options, const std::string& text) {
  options.pipeline.scanpath.gaze_units = parse_gaze_units(parse_text(text));
}

std::optional<std::string> print_units(const StreamOptions& options) {
  return print_gaze_units(options.pipeline.scanpath.gaze_units);
}

void parse_regions(const OptionSpec&, StreamOptions& options, const std::string& text) {
  options.pipeline.scanpath.ignore = parse_ignore(parse_text(text));
}

std::optional<std::string> print_regions(const StreamOptions& options) {
  const std::string text = print_ignore(options.pipeline.scanpath.ignore);
  return text.empty() ? std::nullopt : std::optional(text);
}

void parse_every(const OptionSpec& spec, StreamOptions& options, const std::string& text) {
  const auto frames = parse_word_or_integer(spec, text);
  EmitPolicy& emit = options.pipeline.emit;
  emit.kind = !frames && text == "fixation" ? EmitPolicy::Kind::kFixation : EmitPolicy::Kind::kFrames;
  emit.every_frames = frames.value_or(1);
  options.every_as_number = frames.has_value();
}

std::optional<std::string> print_every(const StreamOptions& options) {
  const EmitPolicy& emit = options.pipeline.emit;
  if (emit.kind == EmitPolicy::Kind::kFixation) return "fixation";
  if (emit.every_frames == 1 && !options.every_as_number) return "frame";
  return print_integer(emit.every_frames);
}

SampleFormat normalized(SampleType type, const Normalization& set) {
  SampleFormat format{.type = type, .mean = {}, .inv_std = {}};
  for (std::size_t c = 0; c < 3; ++c) {
    format.mean[c] = static_cast<float>(set.mean[c]);
    format.inv_std[c] = 1.0F / static_cast<float>(set.deviation[c]);
  }
  return format;
}

std::string normalization_names() {
  std::string list;
  for (const Normalization& set : kNormalizations) list.append(list.empty() ? "" : "|").append(set.name);
  return list;
}

void parse_normalize(const OptionSpec& spec, StreamOptions& options, const std::string& text) {
  parse_choice(spec, text);
  SampleFormat& samples = options.pipeline.samples;
  for (const Normalization& set : kNormalizations) {
    if (text == set.name) samples = normalized(samples.type, set);
  }
}

std::optional<std::string> print_normalize(const StreamOptions& options) {
  const SampleFormat& samples = options.pipeline.samples;
  for (const Normalization& set : kNormalizations) {
    if (samples == normalized(samples.type, set)) return set.name;
  }
  return std::nullopt;  // a caller's own: it has no name
}

using K = ValueKind;
using Scope = OptionScope;

// clang-format off
void add_texture(std::vector<StreamOption>& rows) {
  static const std::string backend_help = "where the texture lives: " + or_list(backend_choices());
  rows.insert(rows.end(), {
    {{.name = "backend", .group = kPictureGroup, .help = backend_help,
      .more = "`auto`: `cuda` where a GPU can be used, else `cpu`; `meta.json` says which, and why.",
      .metavar = "NAME", .kind = K::kChoice, .choices = backend_choices(), .shapes_result = true, .scope = Scope::kRun}, field([](auto& o) -> auto& { return o.backend; })},
    {{.name = "upload", .group = kPictureGroup, .help = "how tiles reach a GPU's texture: auto, pbo (pixel buffers of OpenGL) or direct",
      .more = "With backend `cuda`, `pbo` makes the texture OpenGL's too. `auto` takes the faster one. The result is the same.",
      .metavar = "PATH", .kind = K::kChoice, .choices = choices_of<UploadPath>(), .scope = Scope::kRun}, field([](auto& o) -> auto& { return o.pipeline.upload; })},
    {{.name = "device", .group = kPictureGroup, .help = "which CUDA device decodes and holds the texture",
      .more = "By CUDA's number, of those that `CUDA_VISIBLE_DEVICES` leaves.",
      .metavar = "N", .kind = K::kInteger, .lo = 0, .hi = 255}, field([](auto& o) -> auto& { return o.pipeline.device; })},
    {{.name = "levels", .group = kPictureGroup, .help = "levels of the pyramid",
      .metavar = "N", .kind = K::kInteger, .lo = 1, .hi = kMaxLevels, .shapes_result = true, .tunable = true}, field([](auto& o) -> auto& { return o.pipeline.levels; })},
    {{.name = "threshold", .group = kPictureGroup, .help = "a sample changed when it differs by more than this",
      .more = "In 8-bit codes, against the stored picture, which never drifts further. A live source has a default of 8 ([NOISE.md](NOISE.md)).",
      .metavar = "CODES", .kind = K::kInteger, .default_text = print_integer(DiffConfig{}.threshold), .lo = 0, .hi = 255, .shapes_result = true, .tunable = true,
      .scope = Scope::kRun}, {parse_threshold, print_threshold}},
    {{.name = "min-samples", .group = kPictureGroup, .help = "a tile is damaged when more than N samples changed",
      .metavar = "N", .kind = K::kInteger, .lo = 0, .hi = 1024, .shapes_result = true, .tunable = true, .scope = Scope::kRun},
     field([](auto& o) -> auto& { return o.pipeline.diff.min_samples; })},
    {{.name = "noise-floor", .group = kPictureGroup, .help = "differences up to this are no motion",
      .more = "In 8-bit codes, of what the policies `novelty` and `saliency` see as motion.",
      .metavar = "CODES", .kind = K::kInteger, .lo = 0, .hi = 255, .shapes_result = true, .tunable = true, .scope = Scope::kRun},
     field([](auto& o) -> auto& { return o.pipeline.diff.noise_floor; })},
  });
}

void add_fovea(std::vector<StreamOption>& rows) {
  static const std::string preset_help = "nested and grid: published M0 and e0 of " + or_list(preset_names());
  static const std::string lattice_help = or_list(choices_of<LatticeKind>());
  rows.insert(rows.end(), {
    {{.name = "preset", .group = kFoveaGroup, .help = preset_help,
      .metavar = "NAME", .kind = K::kChoice, .choices = preset_names(), .shapes_result = true, .tunable = true}, {parse_preset, print_preset}},
    {{.name = "e0", .group = kFoveaGroup, .help = "nested and grid: eccentricity at which resolution halves",
      .more = "lod = log2((e + e0) / M0). Default: with nested solved from {tokens}, with grid 2.3.",
      .metavar = "DEG", .kind = K::kNumber, .lo = 1e-6, .hi = 1e6, .shapes_result = true, .tunable = true}, field([](auto& o) -> auto& { return o.lattice.e0; })},
    {{.name = "m0", .group = kFoveaGroup, .help = "nested and grid: magnification's numerator (default: e0)",
      .more = "Full resolution reaches out to M0 - e0.",
      .metavar = "DEG", .kind = K::kNumber, .lo = 1e-6, .hi = 1e6, .shapes_result = true, .tunable = true}, field([](auto& o) -> auto& { return o.lattice.m0; })},
    {{.name = "fov-deg", .group = kFoveaGroup, .help = "horizontal field of view of the frame",
      .metavar = "DEG", .kind = K::kNumber, .lo = 0.01, .hi = 180, .shapes_result = true, .tunable = true}, field([](auto& o) -> auto& { return o.lattice.fov_deg; })},
    {{.name = "lattice", .group = kFoveaGroup, .help = lattice_help,
      .more = "`adaptive`: squares of 16 to 256 pixels, at each look those that bring the receiver's picture nearest to the frame. `nested`: a fovea; square rings around the fixation without gap or overlap, whose samples are exact texels. `grid`: evenly spread centres, resolution by eccentricity. `uniform`: one resolution for all, as `uniform:2` of level 2; with a level and without {tokens} the patches lie side by side from the top left and cover the frame.",
      .metavar = "KIND", .kind = K::kChoice, .choices = choices_of<LatticeKind>(), .shapes_result = true, .tunable = true}, {parse_lattice, print_lattice}},
    {{.name = "tokens", .group = kFoveaGroup, .help = "how many patches inside the frame, at most (default 273)",
      .more = "With `adaptive` a look sends what lowers the error of the receiver's picture most. With `nested` no fixation has more. Where a look or a fixation has fewer, the arrays end with patches of coverage 0. Other lattices have no patch outside.",
      .metavar = "N", .kind = K::kInteger, .lo = 1, .hi = 1e6, .shapes_result = true, .tunable = true}, field([](auto& o) -> auto& { return o.lattice.tokens; })},
    {{.name = "fovea", .group = kFoveaGroup, .help = "nested: width of full resolution, as 192 (pixels) or 6deg",
      .more = "Rounded to four patches. Default: as wide as three fifths of {tokens} allow.",
      .metavar = "PX|DEG", .shapes_result = true, .tunable = true}, {parse_fovea, print_fovea}},
    {{.name = "patches", .group = kFoveaGroup, .help = "how many patches, those outside the frame included (nested: at most)",
      .instead = "use {tokens}, which counts patches inside the frame alone",
      .metavar = "N", .kind = K::kInteger, .lo = 1, .hi = 1e6, .shapes_result = true, .tunable = true}, field([](auto& o) -> auto& { return o.lattice.patches; })},
    {{.name = "patch-size", .group = kFoveaGroup, .help = "samples along a patch's side",
      .metavar = "S", .kind = K::kInteger, .lo = 2, .hi = 256, .shapes_result = true, .tunable = true}, {parse_patch_size, print_patch_size}},
    {{.name = "strides", .group = kFoveaGroup, .help = "nested, explicit: pixels a sample for each ring, as 1,2,4,8",
      .instead = "use {tokens} and {fovea}; the library's lattices keep rings",
      .metavar = "LIST", .kind = K::kIntegers, .lo = 1, .hi = 32768, .shapes_result = true, .tunable = true}, field([](auto& o) -> auto& { return o.lattice.strides; })},
    {{.name = "grid-sizes", .group = kFoveaGroup, .help = "nested, explicit: patches along each ring's side, as 4,4,6,8",
      .instead = "use {tokens} and {fovea}; the library's lattices keep rings",
      .metavar = "LIST", .kind = K::kIntegers, .lo = 1, .hi = 1024, .shapes_result = true, .tunable = true}, field([](auto& o) -> auto& { return o.lattice.grid_sizes; })},
    {{.name = "lod", .group = kFoveaGroup, .help = "uniform: the one level of detail (default: just covers the frame)",
      .metavar = "L", .kind = K::kNumber, .lo = 0, .hi = kMaxLevels - 1, .shapes_result = true, .tunable = true}, field([](auto& o) -> auto& { return o.lattice.lod; })},
    {{.name = "tokens-per-second", .group = kFoveaGroup, .help = "adaptive: patches a second on average; a look that sends less saves up for later ones",
      .more = "At most {tokens} are saved up. The first look has a quarter of a second's.",
      .metavar = "N", .kind = K::kInteger, .lo = 1, .hi = 1e6, .shapes_result = true, .tunable = true}, field([](auto& o) -> auto& { return o.lattice.tokens_per_second; })},
    {{.name = "target-psnr", .group = kFoveaGroup, .help = "adaptive: send no more than brings the receiver's picture to so many dB of luma",
      .more = "A look sends at most {tokens}; the next ones send the rest. The squares are then those that raise the PSNR most.",
      .metavar = "DB", .kind = K::kNumber, .lo = 1, .hi = 100, .shapes_result = true, .tunable = true}, field([](auto& o) -> auto& { return o.lattice.target_psnr; })},
    {{.name = "context", .group = kFoveaGroup, .help = "adaptive: how much the receiver keeps, as 4000 (tokens) or 30s; what older ones showed is sent again (default: all)",
      .metavar = "N|SECONDS", .shapes_result = true, .tunable = true}, {parse_context, print_context}},
    {{.name = "eye", .group = kFoveaGroup, .help = "adaptive: how much acuity around the fixation weighs, 0 to 1 (default: 1 with a recorded gaze, else 0)",
      .metavar = "SHARE", .kind = K::kNumber, .lo = 0, .hi = 1, .shapes_result = true, .tunable = true}, field([](auto& o) -> auto& { return o.lattice.eye; })},
  });
}

void add_scanpath(std::vector<StreamOption>& rows) {
  static const std::string fixation_help = fixation_forms();
  rows.insert(rows.end(), {
    {{.name = "fixation", .group = kScanpathGroup, .help = fixation_help,
      .more = "Where the eye goes. `novelty`: to detail that was not yet seen finely, first to what has just appeared, to letters before textures, and ever less to what never stops changing. `saliency`: to motion and contrast. `file`: lines of `t_s,u,v`, or an eye tracker's file ([GAZE.md](GAZE.md)).",
      .metavar = "POLICY", .shapes_result = true, .tunable = true, .scope = Scope::kRun}, {parse_fixation, print_fixation}},
    {{.name = "gaze", .group = kScanpathGroup, .help = "a file's rows as fixations, or raw: followed as they are",
      .more = "`raw`: at each frame the gaze at its time, without saccades of ours; {every} `fixation` then emits {rate} times a second.",
      .metavar = "MODE", .kind = K::kChoice, .choices = choices_of<GazeMode>(), .shapes_result = true, .tunable = true, .scope = Scope::kRun},
     field([](auto& o) -> auto& { return o.pipeline.scanpath.gaze; })},
    {{.name = "gaze-units", .group = kScanpathGroup, .help = "of a file: auto, norm, norm-up, percent, px, px:WxH[+X+Y]; also s, ms, us or ns",
      .more = "`auto`: as the columns say. `norm`: 0 to 1 from the top left; `norm-up`: from the bottom left; `percent`: 0 to 100 from the top left; `px`: pixels of the frame, or of a screen of W x H. "
              "A time's unit may follow a comma: `px,ms`.",
      .metavar = "UNITS", .shapes_result = true, .tunable = true, .scope = Scope::kRun}, {parse_units, print_units}},
    {{.name = "ignore", .group = kScanpathGroup, .help = "where novelty and saliency never look, and what adaptive leaves out: X,Y,W,H or a mask's picture; may be repeated",
      .more = "Pixels of the frame as displayed, or fractions of it where no number exceeds 1; several also joined by `;`. A mask is stretched over the frame, its white is ignored.",
      .metavar = "REGION", .shapes_result = true, .repeats = true, .tunable = true, .scope = Scope::kRun}, {parse_regions, print_regions}},
    {{.name = "rate", .group = kScanpathGroup, .help = "fixations a second", .more = "In the video's own time.",
      .metavar = "HZ", .kind = K::kNumber, .lo = 1e-3, .hi = 1e3, .shapes_result = true, .tunable = true, .scope = Scope::kRun},
     field([](auto& o) -> auto& { return o.pipeline.scanpath.rate_hz; })},
    {{.name = "seed", .group = kScanpathGroup, .help = "seed of what is random",
      .metavar = "N", .kind = K::kInteger, .lo = 0, .hi = kMany, .shapes_result = true, .tunable = true, .scope = Scope::kRun},
     field([](auto& o) -> auto& { return o.pipeline.scanpath.seed; })},
  });
}

void add_emission(std::vector<StreamOption>& rows) {
  static const std::string dtype_help = "samples as " + or_list(choices_of<SampleType>());
  static const std::string normalize_help =
      "subtract a mean, divide by a deviation: " + or_list(normalization_names());
  rows.insert(rows.end(), {
    {{.name = "every", .group = kOutputGroup, .help = "when patches are sampled: fixation, frame, or each N frames",
      .more = "`fixation`: on landing.",
      .metavar = "WHEN", .kind = K::kWordOrInteger, .choices = "fixation|frame", .lo = 1, .hi = kMany, .shapes_result = true, .scope = Scope::kEmission},
     {parse_every, print_every}},
    {{.name = "dtype", .group = kOutputGroup, .help = dtype_help,
      .metavar = "TYPE", .kind = K::kChoice, .choices = choices_of<SampleType>(), .shapes_result = true, .scope = Scope::kEmission},
     field([](auto& o) -> auto& { return o.pipeline.samples.type; })},
    {{.name = "normalize", .group = kOutputGroup, .help = normalize_help,
      .more = "The published ones; of f16 and f32.",
      .metavar = "SET", .kind = K::kChoice, .choices = normalization_names(), .shapes_result = true, .scope = Scope::kEmission}, {parse_normalize, print_normalize}},
    {{.name = "staged", .group = kRunGroup, .help = "run diff, upload and mips one by one where the backend fuses them",
      .kind = K::kFlag, .scope = Scope::kProfiling}, field([](auto& o) -> auto& { return o.pipeline.staged; })},
  });
}
// clang-format on

}  // namespace

void add_pipeline_options(std::vector<StreamOption>& rows) {
  add_texture(rows);
  add_fovea(rows);
  add_scanpath(rows);
  add_emission(rows);
}

}  // namespace saccade
