#include "pipeline/source/decode/entry.h"

#include <algorithm>
#include <array>
#include <new>

#include "pipeline/source/ffmpeg/versions.h"

namespace saccade {
namespace {

// Whose decoders in FFmpeg flag as key frames, and call intra, exactly the pictures at which decoding may begin.
constexpr std::array kFlagsKeyFrames = {
    AV_CODEC_ID_H264,  AV_CODEC_ID_HEVC,      AV_CODEC_ID_AV1,       AV_CODEC_ID_VP9,        AV_CODEC_ID_VP8,
    AV_CODEC_ID_VP7,   AV_CODEC_ID_VP6,       AV_CODEC_ID_VP6A,      AV_CODEC_ID_VP6F,       AV_CODEC_ID_VP5,
    AV_CODEC_ID_VP4,   AV_CODEC_ID_VP3,       AV_CODEC_ID_THEORA,    AV_CODEC_ID_MPEG1VIDEO, AV_CODEC_ID_MPEG2VIDEO,
    AV_CODEC_ID_MPEG4, AV_CODEC_ID_MSMPEG4V1, AV_CODEC_ID_MSMPEG4V2, AV_CODEC_ID_MSMPEG4V3,  AV_CODEC_ID_WMV1,
    AV_CODEC_ID_WMV2,  AV_CODEC_ID_WMV3,      AV_CODEC_ID_VC1,       AV_CODEC_ID_H263,       AV_CODEC_ID_H263P,
    AV_CODEC_ID_H263I, AV_CODEC_ID_FLV1,      AV_CODEC_ID_RV10,      AV_CODEC_ID_RV20,       AV_CODEC_ID_RV30,
    AV_CODEC_ID_RV40,  AV_CODEC_ID_SVQ1,      AV_CODEC_ID_SVQ3,      AV_CODEC_ID_FFV1,       AV_CODEC_ID_ZMBV,
    AV_CODEC_ID_CSCD};

// Screen codecs that FFmpeg lists as intra-only, though they paint over the picture before.
constexpr std::array kNotAlone = {AV_CODEC_ID_JV, AV_CODEC_ID_MSS2, AV_CODEC_ID_MSCC, AV_CODEC_ID_SRGC};

template <std::size_t N>
bool contains(const std::array<AVCodecID, N>& codecs, AVCodecID codec) {
  return std::find(codecs.begin(), codecs.end(), codec) != codecs.end();
}

}  // namespace

bool stands_alone(AVCodecID codec) {
  const AVCodecDescriptor* about = avcodec_descriptor_get(codec);
  return about != nullptr && (about->props & AV_CODEC_PROP_INTRA_ONLY) != 0 && !contains(kNotAlone, codec);
}

// FFV1's takes a picture between key frames once it has seen any key frame. VP3's family keeps tables of its threads.
bool remembers_over_flush(AVCodecID codec) {
  constexpr std::array kThese = {AV_CODEC_ID_FFV1, AV_CODEC_ID_VP3, AV_CODEC_ID_VP4, AV_CODEC_ID_THEORA};
  return contains(kThese, codec);
}

// A palette that the container changes midway holds until the next change.
EntryRule entry_rule(const AVCodecParameters& codec) {
  if (codec.codec_id == AV_CODEC_ID_PNG) return EntryRule::kFlaggedPackets;
  if (contains(kFlagsKeyFrames, codec.codec_id)) return EntryRule::kKeyFrames;
  return stands_alone(codec.codec_id) && codec.format != AV_PIX_FMT_PAL8 ? EntryRule::kAnywhere : EntryRule::kNone;
}

void EntryCheck::begin(const AVCodecParameters& codec, std::int64_t complaints) {
  *this = {};
  watching_ = true;
  rule_ = entry_rule(codec);
  complains_ = codec.codec_id == AV_CODEC_ID_H264 || codec.codec_id == AV_CODEC_ID_HEVC;
  complaints_ = complaints;
  if (codec.codec_id != AV_CODEC_ID_H264) return;
  parser_.reset(av_parser_init(codec.codec_id));
  parsed_.reset(avcodec_alloc_context3(nullptr));
  if (!parsed_ || avcodec_parameters_to_context(parsed_.get(), &codec) < 0) throw std::bad_alloc();
  if (parser_) parser_->flags |= PARSER_FLAG_COMPLETE_FRAMES;
}

// IDR pictures among them.
bool EntryCheck::is_recovery_point(const AVPacket& packet) {
  if (!parser_) return false;
  std::uint8_t* out = nullptr;
  int size = 0;
  av_parser_parse2(parser_.get(), parsed_.get(), &out, &size, packet.data, packet.size, packet.pts, packet.dts,
                   packet.pos);
  return parser_->key_frame == 1;
}

void EntryCheck::note_packet(const AVPacket& packet) {
  if (first_packet_ == AV_NOPTS_VALUE) {
    first_packet_ = packet.dts != AV_NOPTS_VALUE ? packet.dts : packet.pos;
    first_packet_pts_ = packet.pts;
    first_dts_ = packet.dts;
    first_packet_flagged_ = (packet.flags & AV_PKT_FLAG_KEY) != 0;
  }
  if (first_byte_ < 0) first_byte_ = packet.pos;
  if (packet.pts != AV_NOPTS_VALUE && is_recovery_point(packet)) recovery_pts_.push_back(packet.pts);
}

std::int64_t EntryCheck::next_recovery_after(std::int64_t ts) const {
  const auto next = std::find_if(recovery_pts_.begin(), recovery_pts_.end(), [ts](std::int64_t at) { return at > ts; });
  return next != recovery_pts_.end() ? *next : AV_NOPTS_VALUE;
}

void EntryCheck::note_frame(const AVFrame& frame, std::int64_t complaints) {
  const std::int64_t ts = frame.best_effort_timestamp;
  exact_before_ = exact_;
  stamp_is_wrong_ = ts != AV_NOPTS_VALUE && first_dts_ != AV_NOPTS_VALUE && ts < first_dts_;
  if (frames_++ == 0) {
    first_frame_ts_ = ts;
    began_intra_ = frame.pict_type == AV_PICTURE_TYPE_I;
  }
  if (rule_ != EntryRule::kKeyFrames) {
    exact_ = rule_ == EntryRule::kAnywhere || (rule_ == EntryRule::kFlaggedPackets && first_packet_flagged_);
  } else if (frame.pict_type == AV_PICTURE_TYPE_I && is_key_frame(frame)) {
    exact_ = true;
  } else if (!exact_ && complains_ && began_intra_ && complaints == complaints_) {
    exact_ = true;
  } else if (!exact_ && ts != AV_NOPTS_VALUE && first_frame_ts_ != AV_NOPTS_VALUE && !recovery_pts_.empty()) {
    const std::int64_t again = next_recovery_after(first_frame_ts_);
    const std::int64_t took = std::max<std::int64_t>(first_frame_ts_ - recovery_pts_.front(), 0);
    exact_ = again != AV_NOPTS_VALUE && ts >= again + took;
  }
  const bool of_first_packet = first_packet_pts_ == AV_NOPTS_VALUE || ts == first_packet_pts_;
  if (frames_ == 1) first_exact_ = exact_ && of_first_packet;
}

}  // namespace saccade
