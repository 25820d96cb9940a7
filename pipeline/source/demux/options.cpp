#include "pipeline/source/demux/options.h"

#include <fmt/format.h>

#include <string_view>

extern "C" {
#include <libavutil/parseutils.h>
}

namespace saccade {
namespace {

constexpr double kTimeout_s = 10;
constexpr std::int64_t kAnalyze_us = 2'000'000;  // of a stream that can't be read ahead of its time

bool is_remote(const InputLocation& location) {
  return location.kind == InputKind::kNetwork || location.kind == InputKind::kDevice;
}

bool has_scheme(const InputLocation& location, std::string_view scheme) {
  return location.kind == InputKind::kNetwork && location.url.starts_with(scheme);
}

}  // namespace

void add_network_options(const InputLocation& location, const LiveConfig& config, Dictionary& options) {
  if (has_scheme(location, "rtsp")) options.set("rtsp_transport", config.rtsp_transport);
  // A reader that was held up loses datagrams; by default that would end the stream.
  if (has_scheme(location, "udp:")) options.set("overrun_nonfatal", "1");
}

void prepare_format(AVFormatContext& format, const InputLocation& location) {
  // A camera's driver would wait in the kernel, where no interrupt reaches it.
  if (location.kind == InputKind::kDevice) format.flags |= AVFMT_FLAG_NONBLOCK;
  for (const char* scheme : {"rtsp", "rtp:", "udp:", "tcp:", "srt:", "rtmp"}) {
    if (has_scheme(location, scheme)) format.max_analyze_duration = kAnalyze_us;
  }
}

std::string other_than_asked(const InputHints& asked, const AVStream& stream) {
  const AVCodecParameters& got = *stream.codecpar;
  int width = 0, height = 0;
  if (!asked.size.empty() && av_parse_video_size(&width, &height, asked.size.c_str()) >= 0 &&
      (width != got.width || height != got.height)) {
    return fmt::format("the camera gives {}x{}, not {}", got.width, got.height, asked.size);
  }
  AVRational rate = {0, 1};
  const AVRational got_rate = stream.avg_frame_rate;
  if (!asked.rate.empty() && av_parse_video_rate(&rate, asked.rate.c_str()) >= 0 && got_rate.num > 0 &&
      av_cmp_q(rate, got_rate) != 0) {
    return fmt::format("the camera gives {:g} frames/s, not {}", av_q2d(got_rate), asked.rate);
  }
  return {};
}

double open_timeout_s(const InputLocation& location, const LiveConfig& config) {
  return config.open_timeout_s.value_or(is_remote(location) ? kTimeout_s : 0);
}

double stall_timeout_s(const InputLocation& location, const LiveConfig& config) {
  return config.stall_timeout_s.value_or(is_remote(location) ? kTimeout_s : 0);
}

}  // namespace saccade
