// JPEG by libjpeg-turbo.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace saccade::ui {

// As OpenGL reads it: RGBA in 8 bits, tightly packed rows, the lowest first.
struct GlPicture {
  int width_px = 0, height_px = 0;
  std::vector<std::uint8_t> rgba;
};

struct JpegSettings {
  int quality = 80;          // 1..100
  bool full_chroma = false;  // 4:4:4, else 4:2:0
  bool half = false;         // half as wide and half as tall, odd sizes rounded up
};

// One thread.
class JpegEncoder {
 public:
  JpegEncoder();
  ~JpegEncoder();
  JpegEncoder(const JpegEncoder&) = delete;
  JpegEncoder& operator=(const JpegEncoder&) = delete;
  // Appended to `bytes`. Throws UnavailableError.
  void encode(const GlPicture& picture, const JpegSettings& settings, std::vector<std::uint8_t>& bytes);

 private:
  void* handle_;
  GlPicture smaller_;
};

}  // namespace saccade::ui
