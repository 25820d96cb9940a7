// Options of what is read, and how it is decoded.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <regex>
#include <utility>

#include "pipeline/options/table.h"
#include "pipeline/options/values.h"

namespace saccade {
namespace {

void parse_loop(const OptionSpec& spec, StreamOptions& options, const std::string& text) {
  const auto times = parse_word_or_integer(spec, text);
  options.source.loops = times.value_or(text == "true" ? -1 : 0);
  options.loop_as_number = times.has_value();
}

std::optional<std::string> print_loop(const StreamOptions& options) {
  const std::int64_t loops = options.source.loops;
  if (loops > 0 || (loops == 0 && options.loop_as_number)) return print_integer(loops);
  return print_flag(loops != 0);
}

// Pixels, or one of FFmpeg's names, as hd720.
void parse_size(const OptionSpec&, StreamOptions& options, const std::string& text) {
  const std::string size = parse_text(text);
  static const std::regex known("[1-9][0-9]{0,5}x[1-9][0-9]{0,5}|[a-z][a-z0-9]*");
  if (!std::regex_match(size, known)) throw UsageError("'" + size + "' is no size such as 640x480");
  options.source.input.size = size;
}

std::optional<std::string> print_size(const StreamOptions& options) {
  const std::string& size = options.source.input.size;
  return size.empty() ? std::nullopt : std::optional(size);
}

// FORMAT[:video_size=WxH][:pixel_format=NAME][:framerate=FPS], by ffmpeg's names; FORMAT may be left out.
void parse_format(const OptionSpec&, StreamOptions& options, const std::string& text) {
  constexpr std::pair<std::string_view, std::string_view> kParts[] = {
      {"video_size", "input-size"}, {"pixel_format", "pixel-format"}, {"framerate", "input-rate"}};
  std::vector<std::string> pieces = split(parse_text(text), ':');
  StreamOptions parsed = options;
  if (pieces.front().find('=') == std::string::npos) {
    parsed.source.input.format = parse_text(pieces.front());
    pieces.erase(pieces.begin());
  }
  for (const std::string& piece : pieces) {
    const std::size_t equals = std::min(piece.find('='), piece.size() - 1);
    const auto* part = std::find_if(std::begin(kParts), std::end(kParts),
                                    [&](const auto& known) { return piece.substr(0, equals) == known.first; });
    if (part == std::end(kParts))
      throw UsageError(fmt::format("'{}' is not video_size=WxH, pixel_format=NAME or framerate=FPS", piece));
    set_option(parsed, part->second, piece.substr(equals + 1));
  }
  options = parsed;
}

std::optional<std::string> print_format(const StreamOptions& options) {
  return print_value(options.source.input.format);
}

using K = ValueKind;
using Scope = OptionScope;

// clang-format off
void add_input(std::vector<StreamOption>& rows) {
  rows.insert(rows.end(), {
    {{.name = "vf", .group = kSourceGroup, .help = "video filters, FFmpeg syntax, before anything else",
      .metavar = "FILTERS", .shapes_result = true}, field([](auto& o) -> auto& { return o.source.filters; })},
    {{.name = "input-format", .group = kSourceGroup, .help = "what the input doesn't say itself, in ffmpeg's words: rawvideo:video_size=1920x1080:pixel_format=nv12:framerate=30",
      .more = "Any part may be left out: `h264`, `mjpeg:framerate=30` (of a camera), `framerate=12` (of pictures).",
      .metavar = "FORMAT", .shapes_result = true}, {parse_format, print_format}},
    {{.name = "input-size", .group = kSourceGroup, .help = "size of raw video, or asked of a device; {input-format} sets it, too, and the next two",
      .metavar = "WxH", .shapes_result = true}, {parse_size, print_size}},
    {{.name = "input-rate", .group = kSourceGroup, .help = "frames a second of raw video, pictures or a bare stream, or asked of a device",
      .metavar = "FPS", .shapes_result = true}, field([](auto& o) -> auto& { return o.source.input.rate; })},
    {{.name = "pixel-format", .group = kSourceGroup, .help = "of raw video, as yuv420p or nv12",
      .metavar = "NAME", .shapes_result = true}, field([](auto& o) -> auto& { return o.source.input.pixel_format; })},
    {{.name = "deinterlace", .group = kSourceGroup, .help = "one frame of two fields: auto (when the stream says so), yes or no",
      .more = "By bwdif. For a frame of each field: {vf} bwdif.",
      .metavar = "MODE", .kind = K::kChoice, .choices = choices_of<Deinterlace>(), .shapes_result = true},
     field([](auto& o) -> auto& { return o.source.deinterlace; })},
    {{.name = "crop-tags", .group = kSourceGroup, .help = "crop as the container's tags ask: MP4's clap, Matroska's PixelCrop",
      .metavar = "YES|NO", .kind = K::kChoice, .choices = choices_of<CropByTags>(), .shapes_result = true},
     field([](auto& o) -> auto& { return o.source.crop_tags; })},
    {{.name = "stream", .group = kSourceGroup, .help = "which video stream, from 0 (default: the best)",
      .metavar = "N", .kind = K::kInteger, .lo = 0, .hi = 10000, .shapes_result = true}, field([](auto& o) -> auto& { return o.source.stream_index; })},
    {{.name = "start", .group = kSourceGroup, .help = "begin S seconds after the stream's first time",
      .metavar = "S", .kind = K::kNumber, .lo = 0, .hi = 1e9, .shapes_result = true}, field([](auto& o) -> auto& { return o.source.start_s; })},
    {{.name = "duration", .group = kSourceGroup, .help = "end S seconds after the start",
      .metavar = "S", .kind = K::kNumber, .lo = 1e-9, .hi = 1e9, .shapes_result = true}, field([](auto& o) -> auto& { return o.source.duration_s; })},
    {{.name = "frames", .group = kSourceGroup, .help = "end after N frames",
      .metavar = "N", .kind = K::kInteger, .lo = 1, .hi = kMany, .shapes_result = true}, field([](auto& o) -> auto& { return o.source.max_frames; })},
    {{.name = "loop", .group = kSourceGroup, .help = "play for ever; {loop}=N: N more times after the first",
      .metavar = "N", .kind = K::kWordOrInteger, .choices = "true|false", .lo = 0, .hi = kMany, .shapes_result = true}, {parse_loop, print_loop}},
    {{.name = "max-pixels", .group = kSourceGroup, .help = "refuse larger pictures",
      .metavar = "N", .kind = K::kInteger, .lo = 1, .hi = 2147483647}, field([](auto& o) -> auto& { return o.source.max_pixels; })},
    {{.name = "allow-network", .group = kSourceGroup, .help = "a playlist on disk may open http and other URLs",
      .more = "Without it, only files of its folder.",
      .kind = K::kFlag, .shapes_result = true}, field([](auto& o) -> auto& { return o.source.allow_network; })},
  });
}

void add_decoding(std::vector<StreamOption>& rows) {
  static const std::string hwdec_help = "hardware decoding: " + or_list(choices_of<HwDecode>("auto"));
  rows.insert(rows.end(), {
    {{.name = "threads", .group = kSourceGroup, .help = "decoder threads, 0: FFmpeg's choice",
      .metavar = "N", .kind = K::kInteger, .lo = 0, .hi = 64, .scope = Scope::kDecoding}, field([](auto& o) -> auto& { return o.source.threads; })},
    {{.name = "hwdec", .group = kSourceGroup, .help = hwdec_help,
      .more = "`cuda`: by NVDEC. `auto`: the same with backend `cuda` and without {vf}. What the GPU can't decode, and what follows a change of format, is decoded on the CPU "
              "and reported once (`hwdec_reason` in `meta.json`, `frames_off_device` in `manifest.json`).",
      .metavar = "MODE", .kind = K::kChoice, .choices = choices_of<HwDecode>("auto"), .shapes_result = true}, field([](auto& o) -> auto& { return o.hwdec; })},
    {{.name = "require-hwdec", .group = kSourceGroup, .help = "fail where no hardware decoder can be used",
      .kind = K::kFlag}, field([](auto& o) -> auto& { return o.require_hwdec; })},
  });
}

void add_live(std::vector<StreamOption>& rows) {
  static const std::string transports = "tcp|udp|udp_multicast|http";
  static const std::string transport_help = "how RTSP's packets come, as ffmpeg's: " + or_list(transports);
  rows.insert(rows.end(), {
    {{.name = "live-policy", .group = kSourceGroup, .help = "when the source is faster: block (wait), latest (drop, newest frame wins), auto: latest for live sources that can't wait",
      .metavar = "POLICY", .kind = K::kChoice, .choices = choices_of<QueuePolicy>("auto"), .shapes_result = true, .scope = Scope::kRun},
     field([](auto& o) -> auto& { return o.queue_policy; })},
    {{.name = "rtsp-transport", .group = kSourceGroup, .help = transport_help,
      .metavar = "NAME", .kind = K::kChoice, .choices = transports}, field([](auto& o) -> auto& { return o.source.live.rtsp_transport; })},
    {{.name = "open-timeout", .group = kSourceGroup, .help = "until a network or device must have sent something, 0: no limit (default 10, pipes 0)",
      .metavar = "S", .kind = K::kNumber, .lo = 0, .hi = 1e6}, field([](auto& o) -> auto& { return o.source.live.open_timeout_s; })},
    {{.name = "stall-timeout", .group = kSourceGroup, .help = "how long a network or device may send nothing, 0: no limit (default 10, pipes 0)",
      .metavar = "S", .kind = K::kNumber, .lo = 0, .hi = 1e6}, field([](auto& o) -> auto& { return o.source.live.stall_timeout_s; })},
    {{.name = "reconnect", .group = kSourceGroup, .help = "tries in a row to get a live stream back that broke, 0: none, nor for the rest of a file over HTTP",
      .metavar = "N", .kind = K::kInteger, .lo = 0, .hi = 1e9, .scope = Scope::kRun}, field([](auto& o) -> auto& { return o.source.live.reconnect; })},
    {{.name = "reconnect-delay-max", .group = kSourceGroup, .help = "the longest wait between two tries; the first is 0.25 s, each next one twice the last",
      .metavar = "S", .kind = K::kNumber, .lo = 0, .hi = 1e6, .scope = Scope::kRun}, field([](auto& o) -> auto& { return o.source.live.reconnect_delay_max_s; })},
  });
}
// clang-format on

}  // namespace

void add_source_options(std::vector<StreamOption>& rows) {
  add_input(rows);
  add_decoding(rows);
  add_live(rows);
}

}  // namespace saccade
