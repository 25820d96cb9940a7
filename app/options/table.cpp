#include "app/options/table.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "pipeline/error.h"
#include "pipeline/gaze/fovea_presets.h"

namespace saccade {
namespace {

constexpr double kMany = 9007199254740992.0;  // 2^53: whole numbers a double holds exactly
constexpr std::string_view kSourceGroup = "Source", kPictureGroup = "Texture and damage",
                           kFoveaGroup = "Fovea and patches", kScanpathGroup = "Scanpath", kRunGroup = "Run",
                           kOutputGroup = "Output", kViewGroup = "View";

double real(const std::string& text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::int64_t whole(const std::string& text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

int small(const std::string& text) { return static_cast<int>(whole(text)); }

std::vector<int> wholes(const std::string& text) {
  std::vector<int> values;
  for (const auto& piece : split(text, ',')) values.push_back(small(piece));
  return values;
}

void apply_loop(Options& o, const std::string& text) {
  o.source.loops = text == "true" ? -1 : text == "false" ? 0 : whole(text);
}

void apply_deinterlace(Options& o, const std::string& text) {
  o.source.deinterlace = text == "auto" ? Deinterlace::kAuto : text == "yes" ? Deinterlace::kYes : Deinterlace::kNo;
}

void apply_live_policy(Options& o, const std::string& text) {
  o.queue_policy.reset();
  if (text != "auto") o.queue_policy = text == "block" ? QueuePolicy::kBlock : QueuePolicy::kLatest;
  o.source.live.assume_live = text == "latest";
  o.source.live.drop_late = text != "block";
}

void apply_preset(Options& o, const std::string& text) {
  const FoveaPreset* preset = find_preset(text);
  if (preset == nullptr) return;
  FoveaConfig& fovea = o.pipeline.lattice.fovea;
  fovea.unit = preset->unit;
  fovea.m0 = preset->m0;
  fovea.e0 = preset->e0;
}

void apply_lattice(Options& o, const std::string& text) {
  o.pipeline.lattice.kind = text == "nested" ? LatticeKind::kNested
                            : text == "grid" ? LatticeKind::kGrid
                                             : LatticeKind::kUniform;
}

void apply_patch_size(Options& o, const std::string& text) {
  o.pipeline.lattice.patch_size = small(text);
  if (o.pipeline.lattice.patch_size % 2 != 0) throw UsageError("'" + text + "' is odd; a patch has an even side");
}

void apply_fixation(Options& o, const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string policy = text.substr(0, colon);
  ScanpathConfig& scanpath = o.pipeline.scanpath;
  scanpath.argument = colon == std::string::npos ? "" : text.substr(colon + 1);
  if (policy == "saliency") {
    scanpath.policy = FixationPolicy::kSaliency;
  } else if (policy == "center") {
    scanpath.policy = FixationPolicy::kCenter;
  } else if (policy == "random") {
    scanpath.policy = FixationPolicy::kRandom;
  } else if (policy == "raster") {
    scanpath.policy = FixationPolicy::kRaster;
  } else if (policy == "file") {
    scanpath.policy = FixationPolicy::kFile;
    if (scanpath.argument.empty()) throw UsageError("'file' needs a path: --fixation file:PATH");
  } else {
    throw UsageError("'" + policy + "' is not saliency, center[:U,V], random, raster[:COLSxROWS] or file:PATH");
  }
  if (!scanpath.argument.empty() && (policy == "saliency" || policy == "random")) {
    throw UsageError("'" + policy + "' takes no argument; leave out ':" + scanpath.argument + "'");
  }
}

void apply_every(Options& o, const std::string& text) {
  EmitPolicy& emit = o.pipeline.emit;
  emit.kind = text == "fixation" ? EmitPolicy::Kind::kFixation : EmitPolicy::Kind::kFrames;
  emit.every_frames = text == "fixation" || text == "frame" ? 1 : whole(text);
}

void apply_dtype(Options& o, const std::string& text) {
  o.pipeline.samples.type = text == "u8" ? SampleType::kU8 : text == "f16" ? SampleType::kF16 : SampleType::kF32;
}

// Published constants of OpenAI's CLIP, of torchvision's ImageNet models, and of SigLIP.
void apply_normalize(Options& o, const std::string& text) {
  std::array<float, 3> mean{0, 0, 0}, deviation{1, 1, 1};
  if (text == "clip") {
    mean = {0.48145466F, 0.4578275F, 0.40821073F};
    deviation = {0.26862954F, 0.26130258F, 0.27577711F};
  } else if (text == "imagenet") {
    mean = {0.485F, 0.456F, 0.406F};
    deviation = {0.229F, 0.224F, 0.225F};
  } else if (text == "siglip") {
    mean = {0.5F, 0.5F, 0.5F};
    deviation = {0.5F, 0.5F, 0.5F};
  }
  o.pipeline.samples.mean = mean;
  for (std::size_t c = 0; c < 3; ++c) o.pipeline.samples.inv_std[c] = 1.0F / deviation[c];
}

void apply_progress(Options& o, const std::string& text) {
  o.progress = text == "auto" ? ProgressMode::kAuto : text == "none" ? ProgressMode::kNone : ProgressMode::kJson;
}

void apply_upload(Options& o, const std::string& text) {
  o.pipeline.upload = text == "pbo" ? UploadPath::kPbo : text == "direct" ? UploadPath::kDirect : UploadPath::kAuto;
}

void apply_overwrite(Options& o, const std::string& text) {
  o.dump.overwrite = o.reconstruct.overwrite = text == "true";
}

void apply_output(Options& o, const std::string& text) { o.dump.output = o.reconstruct.output = text; }

void apply_view(Options& o, const std::string& text) {
  const std::size_t colon = text.find(':');
  o.view.view = text.substr(0, colon);
  const auto number = colon == std::string::npos ? "" : text.substr(colon + 1);
  const bool is_level = o.view.view == "level";
  bool known = is_level;
  for (const std::string_view view : {"frame", "foveated", "lod", "damage", "patches", "split"}) {
    known = known || o.view.view == view;
  }
  const bool is_number =
      !number.empty() && number.size() <= 2 && number.find_first_not_of("0123456789") == std::string::npos;
  if (!known || (colon != std::string::npos && !(is_level && is_number))) {
    throw UsageError("'" + text + "' is not frame, foveated, level:N, lod, damage, patches or split");
  }
  if (is_number) o.view.level = small(number);
}

void apply_show(Options& o, const std::string& text) {
  o.view.marks = o.view.outlines = o.view.scanpath = false;
  if (text == "none") return;
  for (const auto& piece : split(text, ',')) {
    bool* const wanted = piece == "marks"      ? &o.view.marks
                         : piece == "outlines" ? &o.view.outlines
                         : piece == "scanpath" ? &o.view.scanpath
                                               : nullptr;
    if (wanted == nullptr) throw UsageError("'" + piece + "' is not marks, outlines, scanpath or none");
    *wanted = true;
  }
}

void apply_size(Options& o, const std::string& text) {
  constexpr int kMost = 16384;
  const auto pieces = split(text, 'x');
  bool good = pieces.size() == 2;
  for (const auto& piece : pieces) {
    good = good && !piece.empty() && piece.size() <= 5 && piece.find_first_not_of("0123456789") == std::string::npos;
  }
  if (good) {
    o.view.width_px = small(pieces[0]);
    o.view.height_px = small(pieces[1]);
    good = o.view.width_px >= 16 && o.view.height_px >= 16 && o.view.width_px <= kMost && o.view.height_px <= kMost;
  }
  if (!good) throw UsageError("'" + text + "' is not WxH with both from 16 to 16384");
}

void apply_screenshots(Options& o, const std::string& text) {
  o.view.screenshots.clear();
  for (const auto& line : split(text, '\n')) {
    const std::size_t equals = line.find('=');
    double t_s = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + std::min(equals, line.size()), t_s);
    const bool good = equals != std::string::npos && error == std::errc{} && end == line.data() + equals && t_s >= 0 &&
                      t_s < 1e9 && equals + 1 < line.size();
    if (!good) throw UsageError("'" + line + "' is not T=FILE.png with T in seconds, as 2.5=shot.png");
    o.view.screenshots.push_back({t_s, line.substr(equals + 1)});
  }
}

using K = ValueKind;

// clang-format off
const OptionSpec kTable[] = {
    {.name = "output", .short_name = "o", .metavar = "PATH", .group = kOutputGroup, .help = "where the result goes: a folder (dump), a .mp4 or .png (reconstruct)",
     .kind = K::kText, .commands = kForDump | kForReconstruct, .apply = apply_output},
    {.name = "overwrite", .group = kOutputGroup, .help = "replace an existing result",
     .kind = K::kFlag, .commands = kForDump | kForReconstruct, .apply = apply_overwrite},
    {.name = "resume", .group = kOutputGroup, .help = "skip a complete dump of the same input and options, redo an incomplete one",
     .kind = K::kFlag, .commands = kForDump, .apply = [](Options& o, const std::string& t) { o.dump.resume = t == "true"; }},

    {.name = "vf", .metavar = "FILTERS", .group = kSourceGroup, .help = "video filters, FFmpeg syntax, before anything else",
     .kind = K::kText, .commands = kForStreams, .shapes_result = true, .apply = [](Options& o, const std::string& t) { o.source.filters = t; }},
    {.name = "input-format", .metavar = "NAME", .group = kSourceGroup, .help = "read as this format (ffmpeg's -f): rawvideo, h264 ...; of a device: its -input_format",
     .kind = K::kText, .commands = kForStreams, .shapes_result = true, .apply = [](Options& o, const std::string& t) { o.source.input.format = t; }},
    {.name = "input-size", .metavar = "WxH", .group = kSourceGroup, .help = "size of raw video, or asked of a device",
     .kind = K::kText, .commands = kForStreams, .shapes_result = true, .apply = [](Options& o, const std::string& t) { o.source.input.size = t; }},
    {.name = "input-rate", .metavar = "FPS", .group = kSourceGroup, .help = "frames a second of raw video, pictures or a bare stream, or asked of a device",
     .kind = K::kText, .commands = kForStreams, .shapes_result = true, .apply = [](Options& o, const std::string& t) { o.source.input.rate = t; }},
    {.name = "pixel-format", .metavar = "NAME", .group = kSourceGroup, .help = "of raw video, as yuv420p or nv12",
     .kind = K::kText, .commands = kForStreams, .shapes_result = true, .apply = [](Options& o, const std::string& t) { o.source.input.pixel_format = t; }},
    {.name = "deinterlace", .metavar = "MODE", .group = kSourceGroup, .help = "one frame of two fields: auto (when the stream says so), yes or no",
     .kind = K::kChoice, .commands = kForStreams, .default_text = "auto", .choices = "auto|yes|no", .shapes_result = true, .apply = apply_deinterlace},
    {.name = "stream", .metavar = "N", .group = kSourceGroup, .help = "which video stream, from 0 (default: the best)",
     .kind = K::kInteger, .commands = kForStreams, .lo = 0, .hi = 10000, .shapes_result = true, .apply = [](Options& o, const std::string& t) { o.source.stream_index = small(t); }},
    {.name = "start", .metavar = "S", .group = kSourceGroup, .help = "begin S seconds after the stream's first time",
     .kind = K::kNumber, .commands = kForStreams, .default_text = "0", .lo = 0, .hi = 1e9, .shapes_result = true, .apply = [](Options& o, const std::string& t) { o.source.start_s = real(t); }},
    {.name = "duration", .metavar = "S", .group = kSourceGroup, .help = "end S seconds after the start",
     .kind = K::kNumber, .commands = kForStreams, .lo = 1e-9, .hi = 1e9, .shapes_result = true, .apply = [](Options& o, const std::string& t) { o.source.duration_s = real(t); }},
    {.name = "frames", .metavar = "N", .group = kSourceGroup, .help = "end after N frames",
     .kind = K::kInteger, .commands = kForStreams, .lo = 1, .hi = kMany, .shapes_result = true, .apply = [](Options& o, const std::string& t) { o.source.max_frames = whole(t); }},
    {.name = "loop", .metavar = "N", .group = kSourceGroup, .help = "play for ever; --loop=N: N more times after the first",
     .kind = K::kWordOrInteger, .commands = kForStreams, .default_text = "false", .choices = "true|false", .lo = 0, .hi = kMany, .shapes_result = true, .apply = apply_loop},
    {.name = "max-pixels", .metavar = "N", .group = kSourceGroup, .help = "refuse larger pictures",
     .kind = K::kInteger, .commands = kForStreams, .default_text = "134217728", .lo = 1, .hi = 2147483647, .apply = [](Options& o, const std::string& t) { o.source.max_pixels = whole(t); }},
    {.name = "allow-network", .group = kSourceGroup, .help = "a playlist on disk may open http and other URLs",
     .kind = K::kFlag, .commands = kForStreams, .default_text = "false", .shapes_result = true, .apply = [](Options& o, const std::string& t) { o.source.allow_network = t == "true"; }},
    {.name = "threads", .metavar = "N", .group = kSourceGroup, .help = "decoder threads, 0: FFmpeg's choice",
     .kind = K::kInteger, .commands = kForAll, .default_text = "0", .lo = 0, .hi = 64, .apply = [](Options& o, const std::string& t) { o.source.threads = small(t); }},
    {.name = "hwdec", .metavar = "MODE", .group = kSourceGroup, .help = "hardware decoding: auto, no or cuda",
     .kind = K::kChoice, .commands = kForStreams, .default_text = "auto", .choices = "auto|no|cuda", .shapes_result = true, .apply = [](Options& o, const std::string& t) { o.hwdec = t; }},
    {.name = "require-hwdec", .group = kSourceGroup, .help = "fail where no hardware decoder can be used",
     .kind = K::kFlag, .commands = kForStreams, .default_text = "false", .apply = [](Options& o, const std::string& t) { o.require_hwdec = t == "true"; }},
    {.name = "live-policy", .metavar = "POLICY", .group = kSourceGroup, .help = "when the source is faster: block (wait), latest (drop, newest frame wins), auto: latest for live sources",
     .kind = K::kChoice, .commands = kForRuns, .default_text = "auto", .choices = "auto|block|latest", .shapes_result = true, .apply = apply_live_policy},
    {.name = "rtsp-transport", .metavar = "NAME", .group = kSourceGroup, .help = "how RTSP's packets come, as ffmpeg's: tcp, udp, udp_multicast or http",
     .kind = K::kChoice, .commands = kForStreams, .default_text = "tcp", .choices = "tcp|udp|udp_multicast|http", .apply = [](Options& o, const std::string& t) { o.source.live.rtsp_transport = t; }},
    {.name = "open-timeout", .metavar = "S", .group = kSourceGroup, .help = "until a network or device must have sent something, 0: no limit (default 10, pipes 0)",
     .kind = K::kNumber, .commands = kForStreams, .lo = 0, .hi = 1e6, .apply = [](Options& o, const std::string& t) { o.source.live.open_timeout_s = real(t); }},
    {.name = "stall-timeout", .metavar = "S", .group = kSourceGroup, .help = "how long a network or device may send nothing, 0: no limit (default 10, pipes 0)",
     .kind = K::kNumber, .commands = kForStreams, .lo = 0, .hi = 1e6, .apply = [](Options& o, const std::string& t) { o.source.live.stall_timeout_s = real(t); }},
    {.name = "reconnect", .metavar = "N", .group = kSourceGroup, .help = "tries in a row to get a live stream back that broke, 0: none",
     .kind = K::kInteger, .commands = kForRuns, .default_text = "5", .lo = 0, .hi = 1e9, .apply = [](Options& o, const std::string& t) { o.source.live.reconnect = small(t); }},
    {.name = "reconnect-delay-max", .metavar = "S", .group = kSourceGroup, .help = "the longest wait between two tries; the first is 0.25 s, each next one twice the last",
     .kind = K::kNumber, .commands = kForRuns, .default_text = "8", .lo = 0, .hi = 1e6, .apply = [](Options& o, const std::string& t) { o.source.live.reconnect_delay_max_s = real(t); }},

    {.name = "backend", .metavar = "NAME", .group = kPictureGroup, .help = "where the texture lives: auto, cpu, gl or cuda",
     .kind = K::kChoice, .commands = kForRuns, .default_text = "auto", .choices = "auto|cpu|gl|cuda", .shapes_result = true, .apply = [](Options& o, const std::string& t) { o.backend = t; }},
    {.name = "upload", .metavar = "PATH", .group = kPictureGroup, .help = "how tiles reach a GPU's texture: auto, pbo (pixel buffers of OpenGL) or direct",
     .kind = K::kChoice, .commands = kForRuns, .default_text = "auto", .choices = "auto|pbo|direct", .apply = apply_upload},
    {.name = "levels", .metavar = "N", .group = kPictureGroup, .help = "levels of the pyramid",
     .kind = K::kInteger, .commands = kForStreams, .default_text = "7", .lo = 1, .hi = kMaxLevels, .shapes_result = true, .apply = [](Options& o, const std::string& t) { o.pipeline.levels = small(t); }},
    {.name = "threshold", .metavar = "CODES", .group = kPictureGroup, .help = "a sample changed when it differs by more than this",
     .kind = K::kInteger, .commands = kForRuns, .default_text = "0", .lo = 0, .hi = 255, .shapes_result = true, .apply = [](Options& o, const std::string& t) { o.pipeline.diff.threshold = small(t); }},
    {.name = "min-pixels", .metavar = "N", .group = kPictureGroup, .help = "a tile is damaged when more than N samples changed",
     .kind = K::kInteger, .commands = kForRuns, .default_text = "0", .lo = 0, .hi = 1024, .shapes_result = true, .apply = [](Options& o, const std::string& t) { o.pipeline.diff.min_pixels = small(t); }},
    {.name = "noise-floor", .metavar = "CODES", .group = kPictureGroup, .help = "differences up to this are no motion",
     .kind = K::kInteger, .commands = kForRuns, .default_text = "8", .lo = 0, .hi = 255, .shapes_result = true, .apply = [](Options& o, const std::string& t) { o.pipeline.diff.noise_floor = small(t); }},

    {.name = "preset", .metavar = "NAME", .group = kFoveaGroup, .help = "published M0 and e0: geisler-perry, horton-hoyt, rovamo-virsu or uv",
     .kind = K::kChoice, .commands = kForStreams, .choices = "geisler-perry|horton-hoyt|rovamo-virsu|uv", .shapes_result = true, .apply = apply_preset},
    {.name = "e0", .metavar = "DEG", .group = kFoveaGroup, .help = "eccentricity at which resolution halves (nested: solved from --patches)",
     .kind = K::kNumber, .commands = kForStreams, .lo = 1e-6, .hi = 1e6, .shapes_result = true, .apply = [](Options& o, const std::string& t) { o.pipeline.lattice.fovea.e0 = real(t); }},
    {.name = "m0", .metavar = "DEG", .group = kFoveaGroup, .help = "magnification's numerator (default: e0)",
     .kind = K::kNumber, .commands = kForStreams, .lo = 1e-6, .hi = 1e6, .shapes_result = true, .apply = [](Options& o, const std::string& t) { o.pipeline.lattice.fovea.m0 = real(t); }},
    {.name = "fov-deg", .metavar = "DEG", .group = kFoveaGroup, .help = "horizontal field of view of the frame",
     .kind = K::kNumber, .commands = kForStreams, .default_text = "40", .lo = 0.01, .hi = 180, .shapes_result = true,
     .apply = [](Options& o, const std::string& t) { o.pipeline.lattice.fovea.fov_deg = o.pipeline.scanpath.fov_deg = real(t); }},
    {.name = "lattice", .metavar = "KIND", .group = kFoveaGroup, .help = "nested, grid or uniform",
     .kind = K::kChoice, .commands = kForStreams, .default_text = "nested", .choices = "nested|grid|uniform", .shapes_result = true, .apply = apply_lattice},
    {.name = "patches", .metavar = "N", .group = kFoveaGroup, .help = "how many patches (nested: at most; default 273)",
     .kind = K::kInteger, .commands = kForStreams, .lo = 1, .hi = 1e6, .shapes_result = true,
     .apply = [](Options& o, const std::string& t) { o.pipeline.lattice.patches = small(t); o.pipeline.lattice.patches_given = true; }},
    {.name = "patch-size", .metavar = "S", .group = kFoveaGroup, .help = "samples along a patch's side",
     .kind = K::kInteger, .commands = kForStreams, .default_text = "16", .lo = 2, .hi = 256, .shapes_result = true, .apply = apply_patch_size},
    {.name = "strides", .metavar = "LIST", .group = kFoveaGroup, .help = "nested, explicit: pixels a sample for each ring, as 1,2,4,8",
     .kind = K::kIntegers, .commands = kForStreams, .lo = 1, .hi = 32768, .shapes_result = true, .apply = [](Options& o, const std::string& t) { o.pipeline.lattice.strides = wholes(t); }},
    {.name = "grid-sizes", .metavar = "LIST", .group = kFoveaGroup, .help = "nested, explicit: patches along each ring's side, as 4,4,6,8",
     .kind = K::kIntegers, .commands = kForStreams, .lo = 1, .hi = 1024, .shapes_result = true, .apply = [](Options& o, const std::string& t) { o.pipeline.lattice.grid_sizes = wholes(t); }},
    {.name = "lod", .metavar = "L", .group = kFoveaGroup, .help = "uniform: the one level of detail (default: just covers the frame)",
     .kind = K::kNumber, .commands = kForStreams, .lo = 0, .hi = kMaxLevels - 1, .shapes_result = true, .apply = [](Options& o, const std::string& t) { o.pipeline.lattice.uniform_lod = real(t); }},

    {.name = "fixation", .metavar = "POLICY", .group = kScanpathGroup, .help = "saliency, center[:U,V], random, raster[:COLSxROWS] or file:PATH",
     .kind = K::kText, .commands = kForRuns, .default_text = "saliency", .shapes_result = true, .apply = apply_fixation},
    {.name = "rate", .metavar = "HZ", .group = kScanpathGroup, .help = "fixations a second",
     .kind = K::kNumber, .commands = kForRuns, .default_text = "4", .lo = 1e-3, .hi = 1e3, .shapes_result = true, .apply = [](Options& o, const std::string& t) { o.pipeline.scanpath.rate_hz = real(t); }},
    {.name = "seed", .metavar = "N", .group = kScanpathGroup, .help = "seed of what is random",
     .kind = K::kInteger, .commands = kForRuns, .default_text = "0", .lo = 0, .hi = kMany, .shapes_result = true, .apply = [](Options& o, const std::string& t) { o.pipeline.scanpath.seed = static_cast<std::uint64_t>(whole(t)); }},

    {.name = "every", .metavar = "WHEN", .group = kOutputGroup, .help = "when patches are sampled: fixation, frame, or each N frames",
     .kind = K::kWordOrInteger, .commands = kForDump | kForProfile, .default_text = "fixation", .choices = "fixation|frame", .lo = 1, .hi = kMany, .shapes_result = true, .apply = apply_every},
    {.name = "dtype", .metavar = "TYPE", .group = kOutputGroup, .help = "samples as u8, f16 or f32",
     .kind = K::kChoice, .commands = kForDump | kForProfile, .default_text = "u8", .choices = "u8|f16|f32", .shapes_result = true, .apply = apply_dtype},
    {.name = "normalize", .metavar = "SET", .group = kOutputGroup, .help = "subtract a mean, divide by a deviation: none, clip, imagenet or siglip",
     .kind = K::kChoice, .commands = kForDump | kForProfile, .default_text = "none", .choices = "none|clip|imagenet|siglip", .shapes_result = true, .apply = apply_normalize},

    {.name = "devices", .group = kRunGroup, .help = "list the cameras with their formats, sizes and rates",
     .kind = K::kFlag, .commands = kForInfo, .default_text = "false", .in_config = false, .apply = [](Options& o, const std::string& t) { o.info.devices = t == "true"; }},
    {.name = "budget-ms", .metavar = "MS", .group = kRunGroup, .help = "what one frame may cost",
     .kind = K::kNumber, .commands = kForProfile, .default_text = "33.3", .lo = 1e-6, .hi = 1e6, .apply = [](Options& o, const std::string& t) { o.profile.budget_ms = real(t); }},
    {.name = "check", .group = kRunGroup, .help = "exit 3 when the p99 is over the budget",
     .kind = K::kFlag, .commands = kForProfile, .default_text = "false", .apply = [](Options& o, const std::string& t) { o.profile.check = t == "true"; }},
    {.name = "staged", .group = kRunGroup, .help = "run diff, upload and mips one by one where the backend fuses them",
     .kind = K::kFlag, .commands = kForProfile, .default_text = "false", .apply = [](Options& o, const std::string& t) { o.pipeline.staged = t == "true"; }},
    {.name = "trace", .metavar = "FILE", .group = kRunGroup, .help = "write the stages' times for Perfetto",
     .kind = K::kText, .commands = kForProfile, .apply = [](Options& o, const std::string& t) { o.profile.trace = t; }},
    {.name = "against", .metavar = "VIDEO", .group = kRunGroup, .help = "compare with the video the dump was made of: PSNR in the fovea and over the frame",
     .kind = K::kText, .commands = kForReconstruct, .apply = [](Options& o, const std::string& t) { o.reconstruct.against = t; }},
    {.name = "emission", .metavar = "N", .group = kRunGroup, .help = "which emission a .png shows, from 0 (default: the middle one)",
     .kind = K::kInteger, .commands = kForReconstruct, .lo = 0, .hi = kMany, .apply = [](Options& o, const std::string& t) { o.reconstruct.emission = whole(t); }},
    {.name = "view", .metavar = "NAME", .group = kViewGroup, .help = "frame, foveated, level:N, lod, damage, patches or split",
     .kind = K::kText, .commands = kForView, .default_text = "frame", .apply = apply_view},
    {.name = "overlay", .metavar = "on|off", .group = kViewGroup, .help = "the panel",
     .kind = K::kChoice, .commands = kForView, .default_text = "on", .choices = "on|off", .apply = [](Options& o, const std::string& t) { o.view.overlay = t == "on"; }},
    {.name = "show", .metavar = "LIST", .group = kViewGroup, .help = "what is drawn over the picture: marks, outlines, scanpath, or none",
     .kind = K::kText, .commands = kForView, .default_text = "marks", .apply = apply_show},
    {.name = "size", .metavar = "WxH", .group = kViewGroup, .help = "the window's size in pixels",
     .kind = K::kText, .commands = kForView, .default_text = "1280x720", .apply = apply_size},
    {.name = "speed", .metavar = "X", .group = kViewGroup, .help = "how fast the video plays",
     .kind = K::kNumber, .commands = kForView, .default_text = "1", .lo = 0.1, .hi = 16, .apply = [](Options& o, const std::string& t) { o.view.speed = real(t); }},
    {.name = "pause", .group = kViewGroup, .help = "stand still on the first frame",
     .kind = K::kFlag, .commands = kForView, .default_text = "false", .apply = [](Options& o, const std::string& t) { o.view.paused = t == "true"; }},
    {.name = "vsync", .metavar = "on|off", .group = kViewGroup, .help = "the window waits for the screen's refresh",
     .kind = K::kChoice, .commands = kForView, .default_text = "on", .choices = "on|off", .apply = [](Options& o, const std::string& t) { o.view.vsync = t == "on"; }},
    {.name = "offscreen", .group = kViewGroup, .help = "no window: only the pictures of --screenshot",
     .kind = K::kFlag, .commands = kForView, .default_text = "false", .in_config = false, .apply = [](Options& o, const std::string& t) { o.view.offscreen = t == "true"; }},
    {.name = "screenshot", .metavar = "T=FILE.png", .group = kViewGroup, .help = "the picture T seconds after the first frame; may be repeated",
     .kind = K::kText, .commands = kForView, .repeats = true, .in_config = false, .apply = apply_screenshots},
    {.name = "log-level", .metavar = "LEVEL", .group = kRunGroup, .help = "trace, debug, info, warn, error or off",
     .kind = K::kChoice, .default_text = "info", .choices = "trace|debug|info|warn|error|off", .apply = [](Options& o, const std::string& t) { o.log_level = t; }},
    {.name = "progress", .metavar = "MODE", .group = kRunGroup, .help = "on stderr: auto (a line, on a terminal), none or json",
     .kind = K::kChoice, .default_text = "auto", .choices = "auto|none|json", .apply = apply_progress},
    {.name = "json", .group = kRunGroup, .help = "the result on stdout as JSON",
     .kind = K::kFlag, .default_text = "false", .apply = [](Options& o, const std::string& t) { o.json = t == "true"; }},
    {.name = "config", .metavar = "FILE", .group = kRunGroup, .help = "read options from a TOML file; the command line wins",
     .kind = K::kText, .in_config = false, .apply = [](Options&, const std::string&) {}},
    {.name = "print-config", .group = kRunGroup, .help = "write the options in force as TOML and end",
     .kind = K::kFlag, .in_config = false, .apply = [](Options&, const std::string&) {}},
};
// clang-format on

}  // namespace

std::span<const OptionSpec> option_table() { return kTable; }

const OptionSpec* find_option(std::string_view name) {
  for (const OptionSpec& spec : kTable) {
    if (spec.name == name) return &spec;
  }
  return nullptr;
}

unsigned command_bit(Command command) { return 1U << static_cast<unsigned>(command); }

const char* name(Command command) {
  switch (command) {
    case Command::kDump:
      return "dump";
    case Command::kProfile:
      return "profile";
    case Command::kInfo:
      return "info";
    case Command::kReconstruct:
      return "reconstruct";
    case Command::kView:
      return "view";
  }
  return "";
}

}  // namespace saccade
