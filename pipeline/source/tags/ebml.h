// Matroska's elements, as far as they are looked at here.
#pragma once

#include <cstdint>
#include <optional>

extern "C" {
#include <libavformat/avio.h>
}

namespace saccade {

inline constexpr std::uint64_t kEbmlHeader = 0x1A45DFA3, kSegment = 0x18538067;

// An EBML variable-size integer (RFC 8794 section 4); `keep_marker` for element ids. Nullopt: damaged, or a size
// that is unknown.
inline std::optional<std::uint64_t> read_vint(AVIOContext& io, bool keep_marker) {
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

// From the beginning of a file to the first element inside its segment; the segment's size, -1 when it says none.
// Nullopt: no Matroska.
inline std::optional<std::int64_t> enter_segment(AVIOContext& io) {
  if (avio_seek(&io, 0, SEEK_SET) < 0 || read_vint(io, true) != kEbmlHeader) return std::nullopt;
  const std::optional<std::uint64_t> header = read_vint(io, false);
  if (!header || avio_skip(&io, static_cast<std::int64_t>(*header)) < 0) return std::nullopt;
  if (read_vint(io, true) != kSegment) return std::nullopt;
  const std::optional<std::uint64_t> segment = read_vint(io, false);
  return segment ? static_cast<std::int64_t>(*segment) : -1;
}

}  // namespace saccade
