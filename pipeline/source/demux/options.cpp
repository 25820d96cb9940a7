#include "pipeline/source/demux/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "pipeline/error.h"
#include "pipeline/source/ffmpeg/late_library.h"
#include "pipeline/source/frame/input_name.h"
#include "pipeline/source/live/watch.h"

extern "C" {
#include <libavutil/parseutils.h>
#include <libavutil/pixdesc.h>
}

namespace saccade {
namespace {

constexpr std::int64_t kAnalyze_us = 2'000'000;  // of a stream that can't be read ahead of its time

struct HintName {
  const char* what;
  const char* option;
  const char* key;  // FFmpeg's
  std::string InputHints::*value;
};
constexpr std::array<HintName, 3> kHints = {
    {{"size", "input-size", "video_size", &InputHints::size},
     {"rate", "input-rate", "framerate", &InputHints::rate},
     {"pixel format", "pixel-format", "pixel_format", &InputHints::pixel_format}}};

bool is_remote(const InputLocation& location) {
  return location.kind == InputKind::kNetwork || location.kind == InputKind::kDevice;
}

bool has_scheme(const InputLocation& location, std::string_view scheme) {
  return location.kind == InputKind::kNetwork && location.url.starts_with(scheme);
}

std::string quoted(const std::string& value) { return "'" + value + "'"; }

}  // namespace

void check_hints(const InputHints& hints) {
  int width = 0, height = 0;
  AVRational rate = {0, 1};
  if (!hints.size.empty() && av_parse_video_size(&width, &height, hints.size.c_str()) < 0) {
    throw UsageError(OfOption("input-size", quoted(hints.size)), "is not WxH");
  }
  if (!hints.rate.empty() && av_parse_video_rate(&rate, hints.rate.c_str()) < 0) {
    throw UsageError(OfOption("input-rate", quoted(hints.rate)), "is no frame rate, as 30 or 30000/1001");
  }
  if (!hints.pixel_format.empty() && av_get_pix_fmt(hints.pixel_format.c_str()) == AV_PIX_FMT_NONE) {
    throw UsageError(OfOption("pixel-format", quoted(hints.pixel_format)),
                     "FFmpeg has none of that name; see 'ffmpeg -pix_fmts'");
  }
}

const AVInputFormat* forced_format(const SourceConfig& config, const InputLocation& location) {
  const bool by_hint = location.format.empty() && !config.input.format.empty();
  const std::string& name = by_hint ? config.input.format : location.format;
  if (name.empty()) return nullptr;
  const AVInputFormat* forced = av_find_input_format(name.c_str());
  if (forced == nullptr) {
    register_devices(by_hint ? fmt::format("input-format {}", name) : config.uri);
    forced = av_find_input_format(name.c_str());
  }
  if (forced == nullptr && by_hint) {
    throw UsageError(OfOption("input-format", quoted(name)),
                     "this FFmpeg has none of that name; see 'ffmpeg -demuxers'");
  }
  if (forced == nullptr) throw InputError(fmt::format("{}: this FFmpeg has no '{}' input", config.uri, name));
  if (!by_hint && location.kind != InputKind::kDevice && !config.input.format.empty()) {
    throw UsageError(OfOption("input-format", quoted(config.input.format)).in(config.uri),
                     fmt::format("it is read by '{}' alone", name), Hint::kNoInputParameters);
  }
  return forced;
}

// A name is a pattern only where it was found to be one.
Dictionary demuxer_options(const InputHints& hints, const InputLocation& location) {
  Dictionary options;
  for (const HintName& hint : kHints) {
    if (!(hints.*hint.value).empty()) options.set(hint.key, hints.*hint.value);
  }
  if (location.kind == InputKind::kDevice && !hints.format.empty()) options.set("input_format", hints.format);
  if (const auto& sequence = location.sequence) {
    options.set("pattern_type", sequence->is_glob ? "glob" : "sequence");
    options.set("start_number", std::to_string(sequence->first));
  } else if (location.url.starts_with("file:")) {
    options.set("pattern_type", "none");
    options.set("live_start_index", "0");
  }
  // A new program map may give the same video another packet id: it goes on being the same stream.
  options.set("merge_pmt_versions", "1");
  options.set("seg_format_options", "merge_pmt_versions=1");
  return options;
}

bool carries_no_times(const AVFormatContext& format) {
  constexpr std::array<std::string_view, 21> kTimeless = {
      "mpjpeg", "mjpeg", "mjpeg_2000", "ingenient", "h264", "hevc", "vvc",  "evc",  "mpegvideo", "m4v",       "obu",
      "av1",    "vc1",   "dirac",      "cavsvideo", "avs2", "avs3", "h263", "h261", "rawvideo",  "image2pipe"};
  const std::string_view name = format.iformat->name;
  return std::find(kTimeless.begin(), kTimeless.end(), name) != kTimeless.end() || name.ends_with("_pipe");
}

bool is_multipart(const AVFormatContext& format) { return std::string_view(format.iformat->name) == "mpjpeg"; }

void check_hints_taken(const SourceConfig& config, const Dictionary& left, const AVFormatContext& format) {
  for (const HintName& hint : kHints) {
    if (left.has(hint.key) && !(hint.value == &InputHints::rate && is_multipart(format))) {
      throw UsageError(OfOption(hint.option, quoted(config.input.*hint.value)).in(config.uri),
                       fmt::format("{} says its {} itself", format.iformat->name, hint.what), Hint::kNoInputParameters);
    }
  }
}

void add_network_options(const InputLocation& location, const LiveConfig& config, Dictionary& options) {
  if (location.kind == InputKind::kNetwork && names_rtsp(location.url)) {
    options.set("rtsp_transport", config.rtsp_transport);
    // FFmpeg sees gaps in the packets' numbers only where packets may be put in order; over TCP it doesn't by default.
    if (config.rtsp_transport == "tcp" || config.rtsp_transport == "http") options.set("reorder_queue_size", "2");
  }
  // A reader that was held up loses datagrams; by default that would end the stream.
  if (has_scheme(location, "udp:")) options.set("overrun_nonfatal", "1");
}

void prepare_format(AVFormatContext& format, const InputLocation& location) {
  // A camera's driver would wait in the kernel, where no interrupt reaches it.
  if (location.kind == InputKind::kDevice) format.flags |= AVFMT_FLAG_NONBLOCK;
  for (const char* scheme : {"rtsp", "rtp:", "udp:", "tcp:", "srt:", "rtmp"}) {
    if (!has_scheme(location, scheme)) continue;
    format.max_analyze_duration = kAnalyze_us;
    format.fps_probe_size = 0;  // no frames are collected to guess their rate: times are what counts
    format.max_ts_probe = 2;    // nor fifty, to wait for times that raw video never has
  }
}

AVRational given_rate(const InputHints& hints) {
  AVRational rate = {0, 1};
  const bool given = !hints.rate.empty() && av_parse_video_rate(&rate, hints.rate.c_str()) >= 0;
  return given ? rate : AVRational{0, 1};
}

std::string other_than_asked(const InputHints& asked, const AVStream& stream) {
  const AVCodecParameters& got = *stream.codecpar;
  int width = 0, height = 0;
  if (!asked.size.empty() && av_parse_video_size(&width, &height, asked.size.c_str()) >= 0 &&
      (width != got.width || height != got.height)) {
    return fmt::format("the camera gives {}x{}, not {}", got.width, got.height, asked.size);
  }
  const AVRational rate = given_rate(asked), got_rate = stream.avg_frame_rate;
  if (rate.num > 0 && got_rate.num > 0 && av_cmp_q(rate, got_rate) != 0) {
    return fmt::format("the camera gives {:g} frames/s, not {}", av_q2d(got_rate), asked.rate);
  }
  return {};
}

double open_timeout_s(const InputLocation& location, const LiveConfig& config) {
  return config.open_timeout_s.value_or(is_remote(location) ? kNetworkTimeout_s : 0);
}

double stall_timeout_s(const InputLocation& location, const LiveConfig& config) {
  return config.stall_timeout_s.value_or(is_remote(location) ? kNetworkTimeout_s : 0);
}

}  // namespace saccade
