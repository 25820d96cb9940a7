#include "pipeline/source/decode/rising.h"

#include <limits>
#include <new>
#include <string_view>

namespace saccade {

bool RisingStamps::needed_by(const Demuxer& demuxer) {
  const AVInputFormat& container = *demuxer.video().format->iformat;
  if (std::string_view(container.name).starts_with("hls")) return false;
  const bool may_fall = (container.flags & AVFMT_TS_DISCONT) != 0 || std::string_view(container.name) == "flv";
  return may_fall || demuxer.fragments_fall();
}

std::optional<std::int64_t> RisingStamps::reach(std::int64_t ts) {
  const FfmpegLog::Scope scope(log_);
  const ErrorCapture quiet;
  const PacketPtr packet(av_packet_alloc());
  if (!packet) throw std::bad_alloc();
  if (!demuxer_) demuxer_ = std::make_unique<Demuxer>(config_, location_, log_, interrupted_, counters_);
  const bool far = location_.kind == InputKind::kNetwork;
  while (!fell_ && !over_ && (!last_ts_ || *last_ts_ < ts)) {
    const int read = demuxer_->read(*packet);
    const std::int64_t stamp = packet->dts != AV_NOPTS_VALUE ? packet->dts : packet->pts;
    // What is no plain end, a run from the beginning has to meet.
    fell_ = read < 0 ? read != AVERROR_EOF || demuxer_->has_next_link()
                     : stamp != AV_NOPTS_VALUE && last_ts_ && stamp < *last_ts_;
    over_ = read == AVERROR_EOF || (far && packet->pos > kMostFetched_bytes);
    if (read >= 0 && !fell_ && stamp != AV_NOPTS_VALUE) last_ts_ = stamp;
    if (read >= 0 && !fell_ && packet->pos >= 0) last_byte_ = packet->pos;
    av_packet_unref(packet.get());
  }
  if (last_ts_ && *last_ts_ >= ts) return last_byte_;
  return fell_ ? std::nullopt : std::optional(std::numeric_limits<std::int64_t>::max());
}

}  // namespace saccade
