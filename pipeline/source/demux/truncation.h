// Whether an input is shorter than it says.
#pragma once

#include <cstdint>
#include <optional>

#include "pipeline/source/ffmpeg/av.h"

namespace saccade {

// Packets of a stream that an index in the header lists; 0 where a container has none.
std::int64_t promised_packets(const AVFormatContext& format, const AVStream& stream);

// After the last packet, which lay there: a Matroska segment longer than the file (RFC 8794, RFC 9559), a transport
// stream that ends inside a packet (ISO/IEC 13818-1 2.4.3), an Ogg page, a RIFF, IVF or RoQ chunk or an AV1 unit longer
// than the file, an AMV, SMJPEG, MXF or GXF file without its last mark, a GIF or JPEG that ends inside a picture,
// multipart MJPEG that ends inside a picture's header, bytes of a picture left over in YUV4MPEG and DV. Moves the read
// position. Of what can't be sought in, transport streams, YUV4MPEG, DV, SMJPEG and multipart MJPEG alone, by the bytes
// that FFmpeg still holds.
bool ends_too_early(AVFormatContext& format, std::int64_t last_begin_byte, std::int64_t last_end_byte);

// Where another file of the same container begins that FFmpeg doesn't read (FLV, ASF, GIF, APNG), after the last
// packet, which ended there: two files that were joined end to end. Moves the read position; needs a seekable file. For
// MP4 see Note [Movies behind movies].
std::optional<std::int64_t> next_file_byte(AVFormatContext& format, std::int64_t last_end_byte);

// Where a second MXF file begins behind the first one's last partition. FFmpeg reads on there, but the stamps stand
// still. Keeps the read position; nullopt where it can't be sought in.
std::optional<std::int64_t> second_mxf_byte(AVFormatContext& format);

// Note [Answers without a length]
// Such an answer ends where the server closes the connection (RFC 9112 6.3), which is what a server that died looks
// like as well; FFmpeg calls it an I/O error. It was whole when what its container promised came: all packets, or the
// time. Where nothing is promised, what came faster than it plays was a file, and else a live stream that broke. An
// answer in chunks ends with an empty one (7.1); FFmpeg passes over it when that is missing, except in its log, and
// takes a chunk whose size is not a number for it. Then only the container can show that something is missing.
class AnswerWithoutLength {
 public:
  explicit AnswerWithoutLength(bool is_such) : is_such_(is_such) {}
  bool is_such() const { return is_such_; }
  void note(const AVPacket& packet, const AVFormatContext& format, const AVStream& stream, std::int64_t read_ns);
  bool came_faster() const;  // than it plays, by the time that reads took: a file does
  // What the error `code` of a read stands for: AVERROR_EOF, if the answer was whole. `packets`: of our stream.
  int end(int code, bool ended_by_itself, const AVFormatContext& format, const AVStream& stream,
          std::int64_t packets) const;

 private:
  std::optional<bool> kept_promise(const AVFormatContext& format, const AVStream& stream, std::int64_t packets) const;

  const bool is_such_;
  std::optional<std::int64_t> first_ns_;  // by the stream's stamps
  std::int64_t end_ns_ = 0;
  std::int64_t last_ns_ = 0;    // of all streams that are read: sound may go on after the pictures
  std::int64_t waited_ns_ = 0;  // in reads, after the first packet
};

}  // namespace saccade
