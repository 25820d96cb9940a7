// The shape of the persistent texture: planes, levels, tiles. Every backend allocates by it, so all agree.
#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "kernels/frame_view.h"
#include "kernels/shared/tile.h"

namespace saccade {

using shared::kTilePx;                    // a tile is 16 x 16 luma texels (8 x 8 chroma)
inline constexpr int kExtentPx = 64;      // texture extents are multiples of this many luma texels
inline constexpr int kDefaultLevels = 7;  // luma 64 -> 1
inline constexpr int kMaxLevels = 16;
inline constexpr int kMaxExtentPx = 32768;  // per axis, after padding

// Tiles that cover the image (not the padding). Tile (tx, ty) has index ty * cols + tx.
struct TileGrid {
  int cols = 0;
  int rows = 0;
  int count() const { return cols * rows; }
  bool operator==(const TileGrid&) const = default;
};

struct PlaneLayout {
  int channels = 1;           // 1, 2 or 4
  int bytes_per_channel = 1;  // 1 or 2
  int subsample_log2 = 0;     // 0: luma or RGBA, 1: chroma
  int image_width = 0;        // texels of level 0 that hold image: ceil(width / 2^subsample)
  int image_height = 0;
  int width = 0;  // texels of level 0, padded; level l is exactly (width >> l) x (height >> l)
  int height = 0;
  int levels = 1;  // luma: `levels`; chroma: max(levels - 1, 1)
  int tile_size() const { return kTilePx >> subsample_log2; }
  int texel_bytes() const { return channels * bytes_per_channel; }
  std::int64_t level0_bytes() const { return std::int64_t{width} * height * texel_bytes(); }  // padding included
  bool operator==(const PlaneLayout&) const = default;
};

struct PyramidLayout {
  int width_px = 0;  // the image
  int height_px = 0;
  int levels = kDefaultLevels;  // of the luma (or RGBA) plane
  TextureFormat format = TextureFormat::kYuv8;
  int plane_count = 0;
  std::array<PlaneLayout, 2> planes;
  TileGrid tiles;  // covers the image
  // Covers the padded extent; tile (tx, ty) repeats image tile (min(tx, cols-1), min(ty, rows-1)).
  TileGrid padded_tiles;
  std::int64_t level0_bytes() const;  // of all planes, padding included: a full upload
  bool operator==(const PyramidLayout&) const = default;
};

// A frame that no texture can hold: the message says its size and the limit.
class LayoutError : public std::invalid_argument {
 public:
  enum class Reason : std::uint8_t { kArguments, kTooManyLevels, kTooLarge };
  LayoutError(Reason reason, const std::string& what) : std::invalid_argument(what), reason_(reason) {}
  Reason reason() const { return reason_; }

 private:
  Reason reason_;
};

// Level 0 alone, with the same padding.
PyramidLayout level0_of(PyramidLayout layout);

// Throws std::invalid_argument, with both, unless the frame has the texture's size and format.
void check_fits(const FrameView& frame, const PyramidLayout& layout);

// Extents are rounded up to a multiple of max(64, 2^(levels - 1)) luma texels, so that every level is exactly half of
// the one above. Throws LayoutError when sizes or levels are out of range.
PyramidLayout make_pyramid_layout(int width_px, int height_px, TextureFormat format, int levels = kDefaultLevels);

}  // namespace saccade
