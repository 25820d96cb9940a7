// A borrowed look at one decoded frame: where its planes lie and what they mean. Owns nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "kernels/color.h"
#include "kernels/enum_names.h"

namespace saccade {

enum class MemorySpace : std::uint8_t { kHost, kCuda };

// How the decoder lays samples out. All 4:2:0 chroma planes are ceil(width / 2) x ceil(height / 2).
enum class PixelLayout : std::uint8_t {
  kI420,     // 8 bit: Y, Cb, Cr planes
  kNv12,     // 8 bit: Y plane, interleaved CbCr plane
  kI420p16,  // 9 to 16 bit in 16: Y, Cb, Cr planes, little endian; `shift` aligns them
  kP016,     // 16 bit: Y plane, interleaved CbCr plane (P010, P016); `shift` as above, usually 0
  kRgba8,    // one plane, 4 bytes a pixel; alpha already composited, its byte is 255
};

// What the texture stores.
enum class TextureFormat : std::uint8_t {
  kYuv8,   // luma R8, chroma RG8 at half size
  kYuv16,  // luma R16, chroma RG16 at half size, samples aligned to the most significant bit
  kRgba8,  // one RGBA8 plane
};

inline constexpr EnumName<PixelLayout> kPixelLayouts[] = {{PixelLayout::kI420, "i420"},
                                                          {PixelLayout::kNv12, "nv12"},
                                                          {PixelLayout::kI420p16, "i420p16"},
                                                          {PixelLayout::kP016, "p016"},
                                                          {PixelLayout::kRgba8, "rgba8"}};
constexpr std::span<const EnumName<PixelLayout>> names_of(PixelLayout) { return kPixelLayouts; }
inline constexpr EnumName<TextureFormat> kTextureFormats[] = {
    {TextureFormat::kYuv8, "yuv8"}, {TextureFormat::kYuv16, "yuv16"}, {TextureFormat::kRgba8, "rgba8"}};
constexpr std::span<const EnumName<TextureFormat>> names_of(TextureFormat) { return kTextureFormats; }

constexpr TextureFormat texture_format(PixelLayout layout) {
  if (layout == PixelLayout::kRgba8) return TextureFormat::kRgba8;
  return layout == PixelLayout::kI420 || layout == PixelLayout::kNv12 ? TextureFormat::kYuv8 : TextureFormat::kYuv16;
}

struct PlaneView {
  const std::uint8_t* data = nullptr;  // first sample of the top row
  std::ptrdiff_t pitch_bytes = 0;      // to the row below; may be negative
};

// Where the samples of R'G'B' pixels are: each channel's first one, its rows, and the bytes from pixel to pixel.
struct RgbPlanes {
  std::array<PlaneView, 3> channel;
  int step = 3;
};

// In pixels of the frame. Of no width or height: nothing.
struct PixelRect {
  int x = 0, y = 0, width = 0, height = 0;
  bool operator==(const PixelRect&) const = default;
};

struct FrameView {
  PixelLayout layout = PixelLayout::kI420;
  MemorySpace space = MemorySpace::kHost;
  int device = 0;          // kCuda: on which, by CUDA's ordinal
  void* stream = nullptr;  // kCuda: the cudaStream_t in which its samples are written; null: they are there
  int width_px = 0;        // as displayed: after rotation, before the sample aspect ratio
  int height_px = 0;
  std::array<PlaneView, 3> planes;
  int shift = 0;  // left shift that aligns a 16-bit sample to its most significant bit (6 for yuv420p10, 0 for P010)
  ColorSpec color;
  float sar = 1.0f;           // width of a pixel over its height
  std::int64_t pts_ns = 0;    // presentation time as the stream gives it; may be negative
  std::int64_t sequence = 0;  // 0, 1, 2 ... in output order; a dropped frame leaves a hole
  // The source knows that this frame and the one of sequence - 1 are equal outside of these, which may overlap and lie
  // in part outside the frame. Not set: it knows nothing. Textures compare what lies inside all the same.
  std::optional<std::span<const PixelRect>> may_differ = {};
  double pts_s() const { return static_cast<double>(pts_ns) * 1e-9; }
};

}  // namespace saccade
