// Whether an input is shorter than it says.
#pragma once

#include <cstdint>
#include <optional>

#include "pipeline/source/demux/locate.h"
#include "pipeline/source/ffmpeg/av.h"

namespace saccade {

// Packets of a stream that an index in the header lists; 0 where a container has none.
std::int64_t promised_packets(const AVFormatContext& format, const AVStream& stream);

// After the last packet, which lay there: a Matroska segment longer than the file (RFC 8794, RFC 9559), a transport
// stream that ends inside a packet (ISO/IEC 13818-1 2.4.3), a RoQ chunk longer than the file, bytes of a picture left
// over in YUV4MPEG. Moves the read position; needs a seekable file.
bool ends_too_early(AVFormatContext& format, std::int64_t last_begin_byte, std::int64_t last_end_byte);

// Where another file of the same container begins that FFmpeg doesn't read (FLV, ASF, GIF), after the last packet,
// which ended there: two files that were joined end to end. Moves the read position; needs a seekable file. For MP4 see
// Note [Movies behind movies].
std::optional<std::int64_t> next_file_byte(AVFormatContext& format, std::int64_t last_end_byte);

// Note [Answers without a length]
// Such an answer ends where the server closes the connection (RFC 9112 6.3), which is what a server that died looks
// like as well; FFmpeg calls it an I/O error. It was whole when what its container promised came: all packets, or the
// time. Where nothing is promised, what came faster than it plays was a file, and else a live stream that broke.
class AnswerWithoutLength {
 public:
  explicit AnswerWithoutLength(const InputLocation& location);
  void note(const AVPacket& packet, const AVStream& stream);
  // After an I/O error. `packets`: of our stream. False, too, for what is no such answer.
  bool was_whole(const AVFormatContext& format, const AVStream& stream, std::int64_t packets) const;

 private:
  bool is_http_;
  std::optional<std::int64_t> first_ns_;  // by the stream's stamps
  std::int64_t end_ns_ = 0;
  std::int64_t began_ns_ = 0;  // by the steady clock
};

}  // namespace saccade
