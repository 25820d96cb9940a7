// What precedes a picture or a file on its way to a page: 32 bytes, little-endian. viewer.js reads it.
#pragma once

#include <array>
#include <cstdint>

namespace saccade::ui {

enum class MessageKind : std::uint8_t {
  kPicture = 1,  // a JPEG follows
  kFile = 2,     // a name, a zero byte, and the file's bytes follow
};

inline constexpr std::uint8_t kSharpRung = 255;  // the picture that stands still

struct FrameHeader {
  MessageKind kind = MessageKind::kPicture;
  std::uint8_t rung = 0;       // of the quality ladder, or kSharpRung
  std::uint32_t seq = 0;       // which the page acknowledges
  std::uint32_t applied = 0;   // number of the driver's input that the picture shows already
  std::uint16_t width_px = 0;  // of the framebuffer: the JPEG may be smaller
  std::uint16_t height_px = 0;
  std::int64_t pts_ns = 0;  // of the frame shown
};

inline constexpr std::size_t kHeader_bytes = 32;

constexpr std::array<std::uint8_t, kHeader_bytes> pack(const FrameHeader& header) {
  std::array<std::uint8_t, kHeader_bytes> bytes{};
  const auto put = [&bytes](std::size_t at, std::uint64_t value, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) bytes[at + i] = static_cast<std::uint8_t>(value >> (8 * i));
  };
  put(0, static_cast<std::uint64_t>(header.kind), 1);
  put(1, header.rung == kSharpRung ? 1 : 0, 1);
  put(2, header.rung, 1);
  put(4, header.seq, 4);
  put(8, header.applied, 4);
  put(12, header.width_px, 2);
  put(14, header.height_px, 2);
  put(16, static_cast<std::uint64_t>(header.pts_ns), 8);
  return bytes;  // the last 8 are for later
}

}  // namespace saccade::ui
