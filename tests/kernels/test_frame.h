// Frames made of random or given samples, for any layout, with pitches of any sign.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "kernels/frame_view.h"
#include "kernels/pyramid_layout.h"

namespace saccade::test {

inline bool is_wide(PixelLayout layout) { return layout == PixelLayout::kI420p16 || layout == PixelLayout::kP016; }

class TestFrame {
 public:
  // shift: of 16-bit layouts; samples then have 16 - shift bits.
  TestFrame(PixelLayout layout, int width, int height, int shift = 0, bool bottom_up = false) {
    view_.layout = layout;
    view_.width_px = width;
    view_.height_px = height;
    view_.shift = is_wide(layout) ? shift : 0;
    view_.color.depth_bits = static_cast<std::uint8_t>(is_wide(layout) ? 16 - view_.shift : 8);
    bottom_up_ = bottom_up;
    const int chroma_w = (width + 1) / 2;
    const int chroma_h = (height + 1) / 2;
    const bool planar = layout == PixelLayout::kI420 || layout == PixelLayout::kI420p16;
    add_plane(0, width * (layout == PixelLayout::kRgba8 ? 4 : 1), height);
    if (layout == PixelLayout::kRgba8) return;
    add_plane(1, planar ? chroma_w : 2 * chroma_w, chroma_h);
    if (planar) add_plane(2, chroma_w, chroma_h);
  }
  TestFrame(const TestFrame& other)
      : bytes_(other.bytes_), view_(other.view_), plane_count_(other.plane_count_), bottom_up_(other.bottom_up_) {
    point_at_bytes();
  }
  TestFrame& operator=(const TestFrame& other) {
    bytes_ = other.bytes_;
    view_ = other.view_;
    plane_count_ = other.plane_count_;
    bottom_up_ = other.bottom_up_;
    point_at_bytes();
    return *this;
  }

  const FrameView& view() const { return view_; }
  int sample_bytes() const { return is_wide(view_.layout) ? 2 : 1; }
  int max_code() const { return is_wide(view_.layout) ? 0xffff >> view_.shift : 255; }

  // As stored in the frame, before the shift. plane 1 of the texture: channel 0 Cb, 1 Cr.
  int get(int plane, int x, int y, int channel) const {
    const std::uint8_t* at = address(plane, x, y, channel);
    if (sample_bytes() == 1) return *at;
    std::uint16_t value = 0;
    std::memcpy(&value, at, 2);
    return value;
  }
  void set(int plane, int x, int y, int channel, int value) {
    auto* at = const_cast<std::uint8_t*>(address(plane, x, y, channel));
    if (sample_bytes() == 1) {
      *at = static_cast<std::uint8_t>(value);
    } else {
      const auto wide = static_cast<std::uint16_t>(value);
      std::memcpy(at, &wide, 2);
    }
  }
  // As the texture stores it.
  int aligned(int plane, int x, int y, int channel) const { return get(plane, x, y, channel) << view_.shift; }

  // Calls f(plane, x, y, channel) for each sample of a rectangle given in luma pixels.
  template <typename F>
  void for_each_sample(int x0, int y0, int x1, int y1, F&& f) const {
    const bool rgba = view_.layout == PixelLayout::kRgba8;
    for (int y = y0; y < y1; ++y) {
      for (int x = x0; x < x1; ++x) {
        for (int c = 0; c < (rgba ? 4 : 1); ++c) f(0, x, y, c);
      }
    }
    if (rgba) return;
    for (int y = y0 / 2; y < (y1 + 1) / 2; ++y) {
      for (int x = x0 / 2; x < (x1 + 1) / 2; ++x) {
        for (int c = 0; c < 2; ++c) f(1, x, y, c);
      }
    }
  }
  template <typename F>
  void for_each_sample(F&& f) const {
    for_each_sample(0, 0, view_.width_px, view_.height_px, f);
  }

  void randomize(std::mt19937& rng) { randomize(rng, 0, 0, view_.width_px, view_.height_px); }
  void randomize(std::mt19937& rng, int x0, int y0, int x1, int y1) {
    std::uniform_int_distribution<int> code(0, max_code());
    std::uniform_int_distribution<int> kind(0, 9);
    for_each_sample(x0, y0, x1, y1, [&](int p, int x, int y, int c) {
      const int k = kind(rng);
      set(p, x, y, c, k == 0 ? 0 : k == 1 ? max_code() : code(rng));
    });
  }

 private:
  void add_plane(int plane, int samples, int rows) {
    const int pitch = samples * sample_bytes() + 6;  // rows are not aligned
    bytes_[static_cast<std::size_t>(plane)].assign(static_cast<std::size_t>(pitch * rows), 0xa5);
    view_.planes[static_cast<std::size_t>(plane)].pitch_bytes = bottom_up_ ? -pitch : pitch;
    plane_count_ = plane + 1;
    point_at_bytes();
  }
  void point_at_bytes() {
    for (std::size_t p = 0; p < static_cast<std::size_t>(plane_count_); ++p) {
      PlaneView& plane = view_.planes[p];
      plane.data = bytes_[p].data();
      if (bottom_up_) plane.data += static_cast<std::ptrdiff_t>(bytes_[p].size()) + plane.pitch_bytes;
    }
  }
  const std::uint8_t* address(int plane, int x, int y, int channel) const {
    const bool planar = view_.layout == PixelLayout::kI420 || view_.layout == PixelLayout::kI420p16;
    const int channels = view_.layout == PixelLayout::kRgba8 ? 4 : plane == 1 && !planar ? 2 : 1;
    const int source = plane == 1 && planar ? 1 + channel : plane;
    const int sample = x * channels + (channels == 1 ? 0 : channel);
    const PlaneView& p = view_.planes[static_cast<std::size_t>(source)];
    return p.data + y * p.pitch_bytes + sample * sample_bytes();
  }

  std::array<std::vector<std::uint8_t>, 3> bytes_;
  FrameView view_;
  int plane_count_ = 0;
  bool bottom_up_ = false;
};

inline constexpr std::array kLayouts{PixelLayout::kI420, PixelLayout::kNv12, PixelLayout::kI420p16, PixelLayout::kP016,
                                     PixelLayout::kRgba8};

// 10-bit planar, 16-bit interleaved: as FFmpeg's yuv420p10 and p010 come.
inline int usual_shift(PixelLayout layout) { return layout == PixelLayout::kI420p16 ? 6 : 0; }

// Rewrites about one tile in `one_in` with noise, and changes single samples by 1 to 12 codes in as
// many others; 0: none.
inline void disturb(TestFrame& frame, std::mt19937& rng, int one_in) {
  if (one_in == 0) return;
  const FrameView& view = frame.view();
  std::uniform_int_distribution<int> dice(0, one_in - 1);
  for (int y = 0; y < view.height_px; y += kTilePx) {
    for (int x = 0; x < view.width_px; x += kTilePx) {
      const int x_end = std::min(x + kTilePx, view.width_px);
      const int y_end = std::min(y + kTilePx, view.height_px);
      if (dice(rng) == 0) frame.randomize(rng, x, y, x_end, y_end);
      if (dice(rng) != 0) continue;
      const int step = static_cast<int>(rng() % 12) + 1;
      std::uniform_int_distribution<int> one(0, 19);
      frame.for_each_sample(x, y, x_end, y_end, [&](int p, int sx, int sy, int c) {
        if (one(rng) != 0) return;
        const int code = frame.get(p, sx, sy, c) + step * (frame.max_code() > 255 ? 4 : 1);
        frame.set(p, sx, sy, c, std::min(code, frame.max_code()));
      });
    }
  }
}

}  // namespace saccade::test
