// What a receiver holds of the picture, by the squares that were sent, and how far that is from the texture.
//
// Note [Held picture]
// In luma of 8 bits, grey before anything is sent. A square that is sent replaces what was held there by its texels,
// enlarged. A tile's errors depend on that tile alone, of the texture and of what is held. So only tiles that were
// damaged or forgotten are worked out again. After a square is sent, the error held is the one that its texels leave.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/cpu/ops.h"
#include "kernels/cpu/pyramid.h"
#include "kernels/damage.h"
#include "kernels/picture/square.h"
#include "kernels/tile_set.h"

namespace saccade {

// Allocates in the constructor only. One thread. Errors are sums of integers: the same whatever computes them.
class CpuHeldPicture {
 public:
  // Borrows the texture. Squares have its levels, at most kSquareLevels.
  CpuHeldPicture(const CpuPyramid& texture, const ErrorMeasure& measure);

  int levels() const { return levels_; }
  void note(const Damage& damage);  // after each update of the texture
  // Of the texture as it is now, padding left out. Valid until the next call of any kind.
  TileErrors measure();
  // Squares of the texture as it was measured; of overlapping ones the last is held.
  void hold(std::span<const Square> squares);
  // Grey again: all, or these tiles.
  void forget();
  void forget(const TileRect& tiles);

  // Level 0, padded as the texture's.
  const std::uint8_t* row(int y) const { return held_.data() + y * pitch_; }

 private:
  void convert(int ty, int begin, int end);
  void compare(int ty, int begin, int end, int level, const LevelView& shown, std::uint32_t* errors) const;
  void hold(const Square& square);

  const CpuPyramid& texture_;
  CpuOps ops_;
  ErrorMeasure measure_;
  TileGrid grid_;
  int levels_;
  std::ptrdiff_t pitch_;
  std::vector<std::uint8_t> held_;
  // The texture's levels of luma: its own, or converted.
  std::array<LevelView, kSquareLevels> luma_;
  std::array<std::vector<std::uint8_t>, kSquareLevels> converted_;
  TileSet changed_, forgotten_;  // since they were measured
  std::vector<std::uint32_t> held_errors_;
  std::array<std::vector<std::uint32_t>, kSquareLevels - 1> mean_errors_;
};

}  // namespace saccade
