// A picture on its way to a PNG, a video or a comparison.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace saccade {

// 8-bit R'G'B', interleaved, tightly packed rows, origin top-left.
struct RgbImage {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> data;

  RgbImage() = default;
  RgbImage(int w, int h) : width(w), height(h), data(static_cast<std::size_t>(w) * static_cast<std::size_t>(h) * 3) {}
  std::uint8_t* pixel(int x, int y) { return data.data() + offset(x, y); }
  const std::uint8_t* pixel(int x, int y) const { return data.data() + offset(x, y); }

 private:
  std::size_t offset(int x, int y) const {
    return (static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)) * 3;
  }
};

}  // namespace saccade
