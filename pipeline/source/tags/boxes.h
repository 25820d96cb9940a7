// Boxes of ISO/IEC 14496-12 files, as far as they are looked at here.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>

extern "C" {
#include <libavformat/avio.h>
}

namespace saccade {

// Where the body of a box, or of an element, lies in the file.
struct Span {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

constexpr std::uint32_t fourcc(const char (&name)[5]) {
  std::uint32_t code = 0;
  for (int i = 0; i < 4; ++i) code = code << 8 | static_cast<std::uint8_t>(name[i]);
  return code;
}

// Calls use(type, body) for each box of `in`, until it returns false or the file is damaged. `use` may seek.
template <class Use>
void each_box(AVIOContext& io, Span in, Use use) {
  for (std::int64_t at = in.begin; at + 8 <= in.end;) {
    if (avio_seek(&io, at, SEEK_SET) < 0) return;
    std::int64_t size = avio_rb32(&io);
    const std::uint32_t type = avio_rb32(&io);
    std::int64_t header = 8;
    if (size == 1) {
      size = static_cast<std::int64_t>(avio_rb64(&io));
      header = 16;
    }
    if (size == 0) size = in.end - at;
    if (size < header || size > in.end - at || avio_feof(&io) != 0) return;
    if (!use(type, Span{at + header, at + size})) return;
    at += size;
  }
}

// The first box of this type inside `in`. `skip`: so many of them before it.
inline std::optional<Span> find_box(AVIOContext& io, Span in, std::uint32_t type, int skip = 0) {
  std::optional<Span> found;
  each_box(io, in, [&](std::uint32_t kind, Span body) {
    if (kind == type && skip-- == 0) found = body;
    return !found;
  });
  return found;
}

inline std::optional<Span> find_path(AVIOContext& io, Span in, std::initializer_list<std::uint32_t> path) {
  std::optional<Span> at = in;
  for (const std::uint32_t type : path) {
    if (at) at = find_box(io, *at, type);
  }
  return at;
}

}  // namespace saccade
