#include "pipeline/source/demux/truncation.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "pipeline/clock.h"
#include "pipeline/source/tags/ebml.h"
#include "pipeline/source/tags/ogg_links.h"

extern "C" {
#include <libavformat/avformat.h>
}

namespace saccade {
namespace {

using namespace std::string_view_literals;

constexpr AVRational kNanoseconds = {1, 1000000000};
constexpr std::int64_t kTail_ns = 300'000'000;   // by which sound may be longer than the pictures
constexpr std::int64_t kBurst_ns = 250'000'000;  // a live stream may begin with so much at once
constexpr std::int64_t kFaster = 3;
constexpr std::int64_t kFrame_ns = 40'000'000;  // where packets don't say how long they last
constexpr std::uint8_t kTsSync = 0x47;

bool segment_is_cut(AVIOContext& io, std::int64_t size) {
  const std::optional<std::int64_t> segment = enter_segment(io);
  return segment && *segment >= 0 && avio_tell(&io) + *segment > size;
}

bool is_sync(AVIOContext& io, std::int64_t at) { return avio_seek(&io, at, SEEK_SET) >= 0 && avio_r8(&io) == kTsSync; }

// Packets of this length begin at `at`: as many as follow, up to three.
bool packets_follow(AVIOContext& io, std::int64_t at, std::int64_t packet, std::int64_t size) {
  for (int i = 0; i < 3 && at < size; ++i, at += packet) {
    if (!is_sync(io, at)) return false;
  }
  return true;
}

// A transport stream ends where packets stop to begin with a sync byte (ISO/IEC 13818-1 2.4.3): with the file, at the
// padding after it, or, when it is cut, inside a packet. `from`: where one of its last packets began, or a few bytes
// before. What lies before the first packet is of no interest.
bool transport_is_cut(AVIOContext& io, std::int64_t from, std::int64_t size) {
  constexpr std::int64_t kBody = 188, kLongest = 204, kNear = std::int64_t{1} << 20;
  for (std::int64_t first = from; first < std::min(from + kLongest, size); ++first) {
    for (const std::int64_t packet : {kBody, std::int64_t{192}, kLongest}) {
      if (!packets_follow(io, first, packet, size)) continue;
      std::int64_t at = first + packet;
      const std::int64_t near = at + (size - at - kNear) / packet * packet;
      if (size - at > kNear && packets_follow(io, near, packet, size)) at = near;
      while (at < size && is_sync(io, at)) at += packet;
      return at - packet + kBody > size;
    }
  }
  return false;
}

// id Software's RoQ: chunks of 8 bytes and what they announce. FFmpeg calls each end an error.
bool roq_is_cut(AVIOContext& io, std::int64_t size) {
  constexpr std::int64_t kHeader = 8;
  std::int64_t at = kHeader;
  while (at + kHeader <= size && avio_seek(&io, at + 2, SEEK_SET) >= 0) at += kHeader + avio_rl32(&io);
  return at != size;
}

// RIFF: the first chunk announces its length, which is 0 or all ones where the writer could not come back to it. Some
// writers count its header as well, or forget the byte of padding.
bool riff_is_cut(AVIOContext& io, std::int64_t size) {
  constexpr std::int64_t kHeader = 8, kSlack = 9;
  constexpr std::uint32_t kUnknown = 0xffffffff;
  if (avio_seek(&io, 4, SEEK_SET) < 0) return false;
  const std::uint32_t announced = avio_rl32(&io);
  return announced != kUnknown && kHeader + announced > size + kSlack;
}

// IVF: each picture behind 12 bytes, of which the first four are its length. `at`: of the last picture's header.
bool ivf_is_cut(AVIOContext& io, std::int64_t at, std::int64_t size) {
  constexpr std::int64_t kHeader = 12;
  while (at + kHeader <= size && avio_seek(&io, at, SEEK_SET) >= 0) at += kHeader + avio_rl32(&io);
  return at != size;
}

// A complete MXF file says in its first partition where its last one begins (SMPTE ST 377-1 7.1); else 0.
std::int64_t mxf_footer_byte(AVIOContext& io) {
  constexpr std::int64_t kKey = 16, kFooter = 24;
  constexpr std::uint64_t kPack = 0x060e2b3402050101, kPartition = 0x0d01020101020000, kKind = 0xffffffffffff0000;
  if (avio_seek(&io, 0, SEEK_SET) < 0 || avio_rb64(&io) != kPack || (avio_rb64(&io) & kKind) != kPartition) return 0;
  const int length = avio_r8(&io);  // BER: itself, or how many bytes say it
  const std::int64_t value = kKey + 1 + (length > 0x80 ? length - 0x80 : 0);
  if (avio_seek(&io, value + kFooter, SEEK_SET) < 0) return 0;
  return static_cast<std::int64_t>(std::min<std::uint64_t>(avio_rb64(&io), INT64_MAX));
}

// A GIF ends with a byte of its own. Where the file ends before it, inside a picture, FFmpeg gives nothing of that one.
// `at`: behind the last picture that came.
bool gif_is_cut(AVIOContext& io, std::int64_t at) {
  constexpr int kExtension = 0x21, kPicture = 0x2c, kControl = 0xf9;
  if (avio_seek(&io, at, SEEK_SET) < 0) return false;
  int block = avio_r8(&io);
  while (block == kExtension && avio_r8(&io) != kControl) {
    while (const int length = avio_r8(&io)) avio_skip(&io, length);
    block = avio_r8(&io);
  }
  return avio_feof(&io) == 0 && (block == kExtension || block == kPicture);
}

// A GXF file ends with a packet of 16 bytes that says so (SMPTE 360M). FFmpeg calls each end an error.
bool gxf_is_cut(AVIOContext& io, std::int64_t size) {
  constexpr std::int64_t kPacket = 16;
  constexpr std::uint64_t kLeaderAndEnd = 0x0000000001fb;
  if (size < kPacket || avio_seek(&io, size - kPacket, SEEK_SET) < 0) return true;
  return avio_rb64(&io) >> 16 != kLeaderAndEnd;
}

// The last bytes of a file, at most `most`.
std::string tail_of(AVIOContext& io, std::int64_t size, std::int64_t most) {
  std::string bytes(static_cast<std::size_t>(std::min(size, most)), '\0');
  if (avio_seek(&io, size - static_cast<std::int64_t>(bytes.size()), SEEK_SET) < 0) return {};
  const int read = avio_read(&io, reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(std::max(read, 0)));
  return bytes;
}

// AMV is a RIFF file whose lengths are all 0; its last bytes are a mark.
bool amv_is_cut(AVIOContext& io, std::int64_t size) {
  constexpr std::int64_t kPadding = 4096;
  constexpr std::int64_t kHead = 12;
  return tail_of(io, kHead, kHead).ends_with("AMV "sv) &&
         tail_of(io, size, kPadding).find("AMV_END_"sv) == std::string::npos;
}

// Pictures of JPEG or JPEG 2000, one behind the other: each has a mark at its end, which is nowhere else in it but in
// a thumbnail's (ITU-T T.81 B.1.1.2). A mark before the last picture's begin is another picture's.
bool jpegs_are_cut(AVIOContext& io, std::int64_t size) {
  constexpr std::int64_t kTail = 1 << 16;
  const std::string tail = tail_of(io, size, kTail);
  const std::size_t end = tail.rfind("\xff\xd9"sv);
  if (end == std::string::npos) return true;
  return tail.find("\xff\xd8\xff"sv, end) != std::string::npos ||
         tail.find("\xff\x4f\xff\x51"sv, end) != std::string::npos;
}

// AV1 as open bitstream units one behind the other (AV1 specification 5.3): a header of one byte, or of two by its bit
// 2, and a length of 7 bits a byte by its bit 1. `at`: where one of them begins.
bool obus_are_cut(AVIOContext& io, std::int64_t at, std::int64_t size) {
  constexpr int kHasLength = 2, kIsExtended = 4, kMostBytes = 8;
  while (at < size && avio_seek(&io, at, SEEK_SET) >= 0) {
    const int header = avio_r8(&io);
    if ((header & kHasLength) == 0) return false;
    if ((header & kIsExtended) != 0) avio_skip(&io, 1);
    std::int64_t length = 0;
    for (int i = 0, byte = 0x80; i < kMostBytes && (byte & 0x80) != 0; ++i) {
      byte = avio_r8(&io);
      length |= static_cast<std::int64_t>(byte & 0x7f) << 7 * i;
    }
    at = avio_tell(&io) + length;
  }
  return at != size;
}

// With what a file of this container begins; empty: FFmpeg reads on by itself, or refuses what follows.
std::string_view signature_of(std::string_view container) {
  constexpr std::string_view kAsfHeader = "\x30\x26\xb2\x75\x8e\x66\xcf\x11\xa6\xd9\x00\xaa\x00\x62\xce\x6c"sv;
  if (container == "flv") return "FLV\x01"sv;
  if (container == "asf") return kAsfHeader;
  if (container == "apng") return "\x89PNG\r\n\x1a\n"sv;
  return container == "gif" ? "GIF89a"sv : ""sv;
}

// The first place of these bytes from `from` on.
std::optional<std::int64_t> find_bytes(AVIOContext& io, std::int64_t from, std::string_view wanted) {
  constexpr std::size_t kChunk = std::size_t{1} << 16;
  if (avio_seek(&io, from, SEEK_SET) < 0) return {};
  for (std::string bytes;;) {
    const std::size_t kept = bytes.size();
    bytes.resize(kept + kChunk);
    const int read = avio_read(&io, reinterpret_cast<unsigned char*>(bytes.data() + kept), static_cast<int>(kChunk));
    if (read <= 0) return {};
    bytes.resize(kept + static_cast<std::size_t>(read));
    if (const std::size_t at = bytes.find(wanted); at != std::string::npos) return from + static_cast<std::int64_t>(at);
    const std::size_t done = bytes.size() - std::min(bytes.size(), wanted.size() - 1);
    bytes.erase(0, done);
    from += static_cast<std::int64_t>(done);
  }
}

// Multipart MJPEG: after a picture there is one line, which separates it from the next one's header. `at`: behind the
// last picture.
bool multipart_is_cut(AVIOContext& io, std::int64_t at, std::int64_t size) {
  constexpr std::string_view kBreaks = "\r\n"sv;
  const std::string rest = tail_of(io, size, size - at);
  const std::size_t line = rest.find_first_not_of(kBreaks);
  return line != std::string::npos && rest.find_first_of(kBreaks, line) < rest.find_last_not_of(kBreaks);
}

// Containers whose end tells, in a file and in a stream alike. last_end_byte: 0 where no packet came.
bool tail_is_cut(AVIOContext& io, std::string_view name, std::int64_t last_end_byte, std::int64_t size) {
  if (name == "smjpeg") return tail_of(io, size, 4) != "DONE"sv;
  if (last_end_byte <= 0) return false;
  if (name == "mpjpeg") return multipart_is_cut(io, last_end_byte, size);
  return (name == "yuv4mpegpipe" || name == "dv") && last_end_byte != size;
}

// Of what came and can't be sought in, FFmpeg holds the last bytes.
bool stream_is_cut(AVIOContext& io, std::string_view name, std::int64_t last_begin_byte, std::int64_t last_end_byte) {
  constexpr std::int64_t kHeld = 8192;
  const std::int64_t size = avio_tell(&io);
  if (last_end_byte <= 0) return false;
  if (name == "mpegts") return transport_is_cut(io, std::max(last_begin_byte, size - kHeld), size);
  return tail_is_cut(io, name, last_end_byte, size);
}

}  // namespace

std::optional<std::int64_t> next_file_byte(AVFormatContext& format, std::int64_t last_end_byte) {
  AVIOContext* io = format.pb;
  const std::string_view signature = signature_of(format.iformat->name);
  if (io == nullptr || (io->seekable & AVIO_SEEKABLE_NORMAL) == 0 || signature.empty() || last_end_byte <= 0) return {};
  return find_bytes(*io, last_end_byte, signature);
}

std::optional<std::int64_t> second_mxf_byte(AVFormatContext& format) {
  constexpr std::string_view kHeaderPartition = "\x06\x0e\x2b\x34\x02\x05\x01\x01\x0d\x01\x02\x01\x01\x02"sv;
  AVIOContext* io = format.pb;
  const bool is_mxf = std::string_view(format.iformat->name) == "mxf";
  if (!is_mxf || io == nullptr || (io->seekable & AVIO_SEEKABLE_NORMAL) == 0) return {};
  const std::int64_t here = avio_tell(io);
  const std::int64_t footer = mxf_footer_byte(*io);
  const std::optional<std::int64_t> second = footer > 0 ? find_bytes(*io, footer, kHeaderPartition) : std::nullopt;
  avio_seek(io, here, SEEK_SET);
  return second;
}

std::int64_t promised_packets(const AVFormatContext& format, const AVStream& stream) {
  const std::string_view name = format.iformat->name;
  if (name.find("mp4") == std::string_view::npos && name != "avi") return 0;
  const std::int64_t listed = avformat_index_get_entries_count(&stream);
  return stream.nb_frames > 0 ? std::min(listed, stream.nb_frames) : 0;
}

bool ends_too_early(AVFormatContext& format, std::int64_t last_begin_byte, std::int64_t last_end_byte) {
  AVIOContext* io = format.pb;
  if (io == nullptr) return false;
  const std::string_view name = format.iformat->name;
  if ((io->seekable & AVIO_SEEKABLE_NORMAL) == 0) return stream_is_cut(*io, name, last_begin_byte, last_end_byte);
  const std::int64_t size = avio_size(io);
  if (size <= 0) return false;
  if (name.find("matroska") != std::string_view::npos) return segment_is_cut(*io, size);
  if (name == "mpegts") return transport_is_cut(*io, last_begin_byte, size);
  if (name == "roq") return roq_is_cut(*io, size);
  if (name == "avi") return riff_is_cut(*io, size) || amv_is_cut(*io, size);
  if (name == "ivf") return last_end_byte > 0 && ivf_is_cut(*io, last_begin_byte, size);
  if (name == "mxf") return mxf_footer_byte(*io) >= size;
  if (name == "gif") return last_end_byte > 0 && gif_is_cut(*io, last_end_byte);
  if (name == "ogg") return last_end_byte > 0 && last_ogg_page_is_cut(*io, last_begin_byte);
  if (name == "obu") return last_end_byte > 0 && obus_are_cut(*io, last_begin_byte, size);
  if (name == "mjpeg" || name == "mjpeg_2000") return jpegs_are_cut(*io, size);
  if (name == "gxf") return gxf_is_cut(*io, size);
  return tail_is_cut(*io, name, last_end_byte, size);
}

void AnswerWithoutLength::note(const AVPacket& packet, const AVFormatContext& format, const AVStream& stream,
                               std::int64_t read_ns) {
  if (first_ns_) waited_ns_ += read_ns;
  if (!is_such_) return;
  const AVRational unit = format.streams[packet.stream_index]->time_base;
  const auto ns = [unit](std::int64_t ts) { return av_rescale_q(ts, unit, kNanoseconds); };
  const std::int64_t ts = packet.pts != AV_NOPTS_VALUE ? packet.pts : packet.dts;
  const std::int64_t lasts_ns = packet.duration > 0 ? ns(packet.duration) : kFrame_ns;
  if (ts != AV_NOPTS_VALUE) last_ns_ = std::max(last_ns_, ns(ts) + lasts_ns);
  if (packet.stream_index != stream.index) return;
  const std::int64_t ts_ns = ts != AV_NOPTS_VALUE ? ns(ts) : end_ns_;
  if (!first_ns_) first_ns_ = end_ns_ = ts_ns;
  end_ns_ = std::max(end_ns_, ts_ns + lasts_ns);
  last_ns_ = std::max(last_ns_, end_ns_);
}

bool AnswerWithoutLength::came_faster() const {
  return first_ns_ && end_ns_ - *first_ns_ > kFaster * waited_ns_ + kBurst_ns;
}

// nullopt: the container promised nothing.
std::optional<bool> AnswerWithoutLength::kept_promise(const AVFormatContext& format, const AVStream& stream,
                                                      std::int64_t packets) const {
  if (const std::int64_t promised = promised_packets(format, stream); promised > 0) return packets >= promised;
  if (format.duration == AV_NOPTS_VALUE || format.duration <= 0) return std::nullopt;
  const std::int64_t start_us = format.start_time != AV_NOPTS_VALUE ? format.start_time : 0;
  return last_ns_ + kTail_ns >= (start_us + format.duration) * 1000;
}

int AnswerWithoutLength::end(int code, bool ended_by_itself, const AVFormatContext& format, const AVStream& stream,
                             std::int64_t packets) const {
  const bool of_connection = code == AVERROR_EOF || code == AVERROR(EIO) || code == AVERROR(ECONNRESET);
  if (!of_connection || (code == AVERROR_EOF && ended_by_itself)) return code;
  const bool over = code == AVERROR(EIO) && came_faster();
  const bool whole = first_ns_ && kept_promise(format, stream, packets).value_or(over);
  if (whole) return AVERROR_EOF;
  return code == AVERROR_EOF ? AVERROR(EIO) : code;
}

}  // namespace saccade
