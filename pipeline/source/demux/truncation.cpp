#include "pipeline/source/demux/truncation.h"

#include <algorithm>
#include <optional>
#include <string_view>

extern "C" {
#include <libavformat/avformat.h>
}

namespace saccade {
namespace {

constexpr std::uint64_t kEbmlHeader = 0x1A45DFA3, kSegment = 0x18538067;
constexpr std::int64_t kTsPacket = 188;

// An EBML variable-size integer (RFC 8794 section 4); `keep_marker` for element ids. Nullopt: damaged,
// or the size "unknown".
std::optional<std::uint64_t> read_vint(AVIOContext& io, bool keep_marker) {
  const auto first = static_cast<unsigned>(avio_r8(&io));
  if (first == 0) return std::nullopt;
  const int length = __builtin_clz(first) - 23;
  const unsigned marker = 0x80U >> (length - 1);
  std::uint64_t value = keep_marker ? first : first & (marker - 1);
  bool all_ones = (first & (marker - 1)) == marker - 1;
  for (int i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned>(avio_r8(&io));
    all_ones = all_ones && byte == 0xff;
    value = value << 8 | byte;
  }
  if (!keep_marker && all_ones) return std::nullopt;
  return value;
}

bool segment_is_cut(AVIOContext& io, std::int64_t size) {
  if (avio_seek(&io, 0, SEEK_SET) < 0 || read_vint(io, true) != kEbmlHeader) return false;
  const std::optional<std::uint64_t> header = read_vint(io, false);
  if (!header || avio_skip(&io, static_cast<std::int64_t>(*header)) < 0) return false;
  if (read_vint(io, true) != kSegment) return false;
  const std::optional<std::uint64_t> segment = read_vint(io, false);
  return segment && avio_tell(&io) + static_cast<std::int64_t>(*segment) > size;
}

}  // namespace

std::int64_t promised_packets(const AVFormatContext& format, const AVStream& stream) {
  const std::string_view name = format.iformat->name;
  if (name.find("mp4") == std::string_view::npos && name != "avi") return 0;
  const std::int64_t listed = avformat_index_get_entries_count(&stream);
  return stream.nb_frames > 0 ? std::min(listed, stream.nb_frames) : 0;
}

bool ends_too_early(AVFormatContext& format, std::int64_t packets_end_byte) {
  AVIOContext* io = format.pb;
  if (io == nullptr || (io->seekable & AVIO_SEEKABLE_NORMAL) == 0) return false;
  const std::int64_t size = avio_size(io);
  if (size <= 0) return false;
  const std::string_view name = format.iformat->name;
  if (name.find("matroska") != std::string_view::npos) return segment_is_cut(*io, size);
  if (name == "mpegts") return size % kTsPacket != 0 && size % 192 != 0 && size % 204 != 0;
  if (name == "yuv4mpegpipe") return packets_end_byte > 0 && packets_end_byte < size;
  return false;
}

}  // namespace saccade
