#include "pipeline/source/decode/entry.h"

#include <algorithm>

#include "pipeline/source/ffmpeg/versions.h"

namespace saccade {
namespace {

// Whose decoders in FFmpeg flag exactly the pictures at which decoding may begin.
bool flags_key_frames(AVCodecID codec) {
  switch (codec) {
    case AV_CODEC_ID_H264:
    case AV_CODEC_ID_HEVC:
    case AV_CODEC_ID_MPEG1VIDEO:
    case AV_CODEC_ID_MPEG2VIDEO:
    case AV_CODEC_ID_MPEG4:
    case AV_CODEC_ID_VC1:
      return true;
    default:
      return false;
  }
}

}  // namespace

void EntryCheck::begin(AVCodecID codec, std::int64_t complaints) {
  *this = {};
  watching_ = true;
  strict_ = flags_key_frames(codec);
  complaints_ = complaints;
}

void EntryCheck::note_packet(const AVPacket& packet) {
  if (first_packet_ == AV_NOPTS_VALUE) {
    first_packet_ = packet.dts != AV_NOPTS_VALUE ? packet.dts : packet.pos;
    first_packet_pts_ = packet.pts;
  }
  if ((packet.flags & AV_PKT_FLAG_KEY) != 0 && packet.pts != AV_NOPTS_VALUE) key_pts_.push_back(packet.pts);
}

std::int64_t EntryCheck::next_key_after(std::int64_t ts) const {
  const auto next = std::find_if(key_pts_.begin(), key_pts_.end(), [ts](std::int64_t key) { return key > ts; });
  return next != key_pts_.end() ? *next : AV_NOPTS_VALUE;
}

void EntryCheck::note_frame(const AVFrame& frame, std::int64_t complaints) {
  const std::int64_t ts = frame.best_effort_timestamp;
  exact_before_ = exact_;
  if (frames_++ == 0) {
    first_frame_ts_ = ts;
    began_intra_ = frame.pict_type == AV_PICTURE_TYPE_I;
  }
  if (!strict_) {
    exact_ = exact_ || ts == AV_NOPTS_VALUE || first_packet_pts_ == AV_NOPTS_VALUE || ts >= first_packet_pts_;
  } else if (frame.pict_type == AV_PICTURE_TYPE_I && is_key_frame(frame)) {
    exact_ = true;
  } else if (!exact_ && began_intra_ && complaints == complaints_) {
    exact_ = true;
  } else if (!exact_ && ts != AV_NOPTS_VALUE && first_frame_ts_ != AV_NOPTS_VALUE && !key_pts_.empty()) {
    const std::int64_t again = next_key_after(first_frame_ts_);
    const std::int64_t took = std::max<std::int64_t>(first_frame_ts_ - key_pts_.front(), 0);
    exact_ = again != AV_NOPTS_VALUE && ts >= again + took;
  }
  if (frames_ == 1) first_exact_ = exact_;
}

}  // namespace saccade
