// The differences between the versions of FFmpeg that saccade builds with, 5.1 to 8: versions are asked here alone.
// Each name is one thing as the newest version has it; below its #else stands what older versions have instead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

extern "C" {
#include <libavcodec/packet.h>
#include <libavcodec/version.h>
#include <libavfilter/version.h>
#include <libavformat/avformat.h>
#include <libavformat/version.h>
#include <libavutil/frame.h>
#include <libavutil/version.h>
}

namespace saccade {

// FFmpeg 6.0: AVFrame::duration, in units of its time base; 0 when unknown. Before: pkt_duration.
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(57, 30, 100)
inline std::int64_t frame_duration(const AVFrame& frame) { return frame.duration; }
inline void set_frame_duration(AVFrame& frame, std::int64_t duration) { frame.duration = duration; }
#else
inline std::int64_t frame_duration(const AVFrame& frame) { return frame.pkt_duration; }
inline void set_frame_duration(AVFrame& frame, std::int64_t duration) { frame.pkt_duration = duration; }
#endif

// FFmpeg 6.1: flags. Before: fields of AVFrame.
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(58, 7, 100)
inline bool is_interlaced(const AVFrame& frame) { return (frame.flags & AV_FRAME_FLAG_INTERLACED) != 0; }
inline bool is_key_frame(const AVFrame& frame) { return (frame.flags & AV_FRAME_FLAG_KEY) != 0; }
inline bool is_top_field_first(const AVFrame& frame) { return (frame.flags & AV_FRAME_FLAG_TOP_FIELD_FIRST) != 0; }
inline void flag_interlaced(AVFrame& frame) { frame.flags |= AV_FRAME_FLAG_INTERLACED; }
#else
inline bool is_interlaced(const AVFrame& frame) { return frame.interlaced_frame != 0; }
inline bool is_key_frame(const AVFrame& frame) { return frame.key_frame != 0; }
inline bool is_top_field_first(const AVFrame& frame) { return frame.top_field_first != 0; }
inline void flag_interlaced(AVFrame& frame) { frame.interlaced_frame = 1; }
#endif

// Side data of the whole stream; null when there is none. FFmpeg 6.1: in its codec parameters. Before: in the stream.
inline const std::uint8_t* stream_side_data(const AVStream& stream, AVPacketSideDataType type,
                                            std::size_t& size_bytes) {
#if LIBAVFORMAT_VERSION_INT >= AV_VERSION_INT(60, 15, 100)
  const AVCodecParameters& parameters = *stream.codecpar;
  const AVPacketSideData* data =
      av_packet_side_data_get(parameters.coded_side_data, parameters.nb_coded_side_data, type);
  size_bytes = data != nullptr ? data->size : 0;
  return data != nullptr ? data->data : nullptr;
#else
  size_bytes = 0;
  return av_stream_get_side_data(&stream, type, &size_bytes);
#endif
}

// Room for such side data, in place of what there is of the type; null: no memory.
inline std::uint8_t* new_stream_side_data(AVStream& stream, AVPacketSideDataType type, std::size_t size_bytes) {
#if LIBAVFORMAT_VERSION_INT >= AV_VERSION_INT(60, 15, 100)
  AVCodecParameters& parameters = *stream.codecpar;
  AVPacketSideData* data =
      av_packet_side_data_new(&parameters.coded_side_data, &parameters.nb_coded_side_data, type, size_bytes, 0);
  return data != nullptr ? data->data : nullptr;
#else
  return av_stream_new_side_data(&stream, type, size_bytes);
#endif
}

// What the container says to crop: top, bottom, left, right, 32 bits each, little endian; null when it says nothing.
// Before FFmpeg 7.1: always.
inline const std::uint8_t* stream_crop_data([[maybe_unused]] const AVStream& stream, std::size_t& size_bytes) {
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(61, 19, 100)
  return stream_side_data(stream, AV_PKT_DATA_FRAME_CROPPING, size_bytes);
#else
  size_bytes = 0;
  return nullptr;
#endif
}

// Whether the transformations of HEIF's items reach the stream. Before FFmpeg 8: not.
inline constexpr bool kPassesItemsOn = LIBAVFORMAT_VERSION_INT >= AV_VERSION_INT(62, 0, 100);

// More options of the filter "buffer": the colours of its frames, whose tags must be known values. FFmpeg 7.0: filters
// agree on matrix and range beforehand, and a source that names none loses its frames' own. Before: each frame's count.
inline std::string buffer_source_color([[maybe_unused]] const AVFrame& like) {
#if LIBAVFILTER_VERSION_INT >= AV_VERSION_INT(9, 16, 100)
  return ":colorspace=" + std::to_string(static_cast<int>(like.colorspace)) +
         ":range=" + std::to_string(static_cast<int>(like.color_range));
#else
  return {};
#endif
}

}  // namespace saccade
