// The held picture in host memory: its definition. See Note [Held picture] in kernels/held_picture.h.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/cpu/ops.h"
#include "kernels/cpu/pyramid.h"
#include "kernels/held_picture.h"
#include "kernels/tile_set.h"

namespace saccade {

struct TileChroma {
  std::uint8_t cb, cr;
};

// Allocates in the constructor only. Errors are sums of integers: the same whatever computes them.
class CpuHeldPicture final : public HeldPicture {
 public:
  CpuHeldPicture(const CpuPyramid& texture, const ErrorMeasure& measure);

  int levels() const override { return levels_; }
  void note(const Damage& damage) override;
  TileErrors measure() override;
  void hold(std::span<const Square> squares) override;
  void forget() override;
  void forget(const TileRect& tiles) override;

 private:
  void convert(int ty, int begin, int end);
  void compare(int ty, int begin, int end, int level, const LevelView& shown, std::uint32_t* errors) const;
  void find_chroma(int ty, int begin, int end);
  void compare_chroma(int ty, int begin, int end);
  void hold_one(const Square& square);

  const CpuPyramid& texture_;
  CpuOps ops_;
  ErrorMeasure measure_;
  TileGrid grid_;
  int levels_;
  std::ptrdiff_t pitch_;
  std::vector<std::uint8_t> held_;
  std::vector<TileChroma> chroma_, held_chroma_;    // of each tile: as the texture has it, and as it is held
  LevelView chroma_texels_;                         // the highest level in which a tile has a texel
  int chroma_side_ = 1;                             // its texels of a tile
  std::array<std::uint32_t, 256> chroma_errors_{};  // of a difference of Cb or Cr
  // The texture's levels of luma: its own, or converted.
  std::array<LevelView, kSquareLevels> luma_;
  std::array<std::vector<std::uint8_t>, kSquareLevels> converted_;
  TileSet changed_, forgotten_;  // since they were measured
  std::vector<std::uint32_t> held_errors_;
  std::array<std::vector<std::uint32_t>, kSquareLevels - 1> mean_errors_;
};

}  // namespace saccade
