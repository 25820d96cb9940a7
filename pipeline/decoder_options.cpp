#include "pipeline/decoder_options.h"

#include <string_view>

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

double open_timeout_s(const InputLocation& location, const LiveConfig& config) {
  return config.open_timeout_s.value_or(is_remote(location) ? kTimeout_s : 0);
}

double stall_timeout_s(const InputLocation& location, const LiveConfig& config) {
  return config.stall_timeout_s.value_or(is_remote(location) ? kTimeout_s : 0);
}

}  // namespace saccade
