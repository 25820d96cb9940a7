// What a receiver holds of the picture, by the squares that were sent, and how far that is from the texture.
//
// Note [Held picture]
// In luma of 8 bits, grey before anything is sent. A square that is sent replaces what was held there by its texels,
// enlarged. A tile's errors depend on that tile alone, of the texture and of what is held. So only tiles that were
// damaged or forgotten are worked out again. After a square is sent, the error held is the one that its texels leave.
// A colour may change where luma does not. Of chroma one mean a tile is kept, since a square of any level shows that:
// it counts in the error held, and a square leaves none of it.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "kernels/damage.h"
#include "kernels/pyramid_layout.h"

namespace saccade {

// kTilePx << level level-0 pixels a side, aligned to that side; its patch has 16 x 16 texels of this level.
struct Square {
  int level = 0;
  int x = 0, y = 0;  // column and row among the squares of this level
  bool operator==(const Square&) const = default;
};

// Levels of squares, at most: a tile's texels of these levels depend on that tile alone.
inline constexpr int kSquareLevels = 5;

// How far one picture is from another: a difference of d codes of 8-bit luma counts as d^power, one of at most `noise`
// codes as nothing.
struct ErrorMeasure {
  int power = 3;  // 2 or 3
  int noise = 1;
  bool chroma = true;  // its error counts beside that of luma
  bool operator==(const ErrorMeasure&) const = default;
};

// Of each tile of the image, row-major: the sum of its pixels' errors.
struct TileErrors {
  std::span<const std::uint32_t> held;  // of what the receiver holds; at most 2^32 - 1
  // [l - 1]: what would be left if it held the texels of level l. Level 0 leaves nothing.
  std::array<std::span<const std::uint32_t>, kSquareLevels - 1> means;
};

// Texture::make_held_picture() makes it. The texture outlives it. On the texture's thread. Its calls allocate nothing.
class HeldPicture {
 public:
  virtual ~HeldPicture() = default;

  virtual int levels() const = 0;               // of squares: the texture's, at most kSquareLevels
  virtual void note(const Damage& damage) = 0;  // after each update of the texture
  // Of the texture as it is now, padding left out. Valid until the next call of any kind.
  virtual TileErrors measure() = 0;
  // Squares of the texture as it was measured. Of overlapping ones the last is held.
  virtual void hold(std::span<const Square> squares) = 0;
  // Grey again: all, or these tiles.
  virtual void forget() = 0;
  virtual void forget(const TileRect& tiles) = 0;
};

}  // namespace saccade
