// Paints an emission where the eye would see it: patches over a grey field, coarse first, so fine ones stay on top.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/patch_plan.h"
#include "kernels/picture/rgb_image.h"

namespace saccade {

inline constexpr std::uint8_t kUnseenGrey = 128;
inline constexpr float kNativeLod = 0.5f;  // below it a patch shows more of level 0 than of level 1

struct PictureSize {
  int width = 0, height = 0;
  bool operator==(const PictureSize&) const = default;
};
// A frame's size as displayed, in square pixels: the larger of the two readings of its sample aspect ratio.
// shrink: times so much. Rounded, at least 1 x 1.
PictureSize displayed_size(int width_px, int height_px, double sar, double shrink = 1.0);

// A canvas for frames of one size. A patch covers its S x S samples, each 2^lod level-0 pixels wide, interpolated
// linearly between sample positions and held constant beyond the outermost. Allocates nothing per emission once warm.
class Painter {
 public:
  // width_px x height_px: the frame. Without interpolation each sample is a square of one colour: a HeldPicture's.
  Painter(int width_px, int height_px, PictureSize canvas, int patch_size, bool interpolate = true);

  // samples: N x 3 x S x S in 0..255. The returned picture is valid until the next call.
  // owner: what PictureMemory::add() says of each pixel of the frame; else all patches over grey.
  const RgbImage& paint(std::span<const Patch> patches, std::span<const float> samples,
                        std::span<const std::int32_t> owner = {});

  const RgbImage& image() const { return image_; }
  // Per pixel: 1 where the patch on top has lod < kNativeLod.
  std::span<const std::uint8_t> native() const { return native_; }

 private:
  struct Tap {
    int sample;    // left (upper) neighbour, 0 .. S-1
    int next;      // right (lower) neighbour
    float weight;  // of `next`
  };
  struct Span {
    int begin, end;  // canvas pixels
  };
  Span make_taps(float centre_px, float pitch_px, double scale, int extent, std::vector<Tap>& taps) const;
  void begin(std::span<const std::int32_t> owner);
  void paint_patch(const Patch& patch, const float* samples, std::int32_t number);
  bool owns(std::int32_t number, int x, int y) const {
    return owner_.empty() ||
           owner_[frame_rows_[static_cast<std::size_t>(y)] + frame_columns_[static_cast<std::size_t>(x)]] == number;
  }

  int patch_size_;
  bool interpolate_;
  double scale_x_, scale_y_;
  RgbImage image_;
  std::vector<std::uint8_t> native_;
  std::vector<std::size_t> order_;
  std::vector<Tap> columns_, rows_;
  std::vector<float> line_;  // 3 x S: one row of samples, already interpolated down the patch
  std::span<const std::int32_t> owner_;
  std::vector<std::size_t> frame_columns_, frame_rows_;  // of a pixel's column and row: where they lie in `owner`
};

// Marks where the eye points: a ring with a cross, or a broken ring in flight.
void mark_fixation(RgbImage& image, float fix_u, float fix_v, bool in_flight);

}  // namespace saccade
