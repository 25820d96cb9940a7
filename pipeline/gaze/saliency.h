// Where the picture draws the eye: motion, and what differs from its surround, on the grid of tiles.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/damage.h"
#include "kernels/texture.h"
#include "pipeline/gaze/lattice/lattice.h"

namespace saccade {

// Motion energy of each tile, decaying exponentially: note() touches damaged tiles alone. Contributions are stored
// relative to a moving reference time and grow by exp(t / tau) instead of all others shrinking.
class MotionTrace {
 public:
  // `ignored`, borrowed: of each tile whether its motion counts for nothing (1). Empty: none.
  explicit MotionTrace(TileGrid grid, std::span<const std::uint8_t> ignored = {})
      : grid_(grid), energy_(static_cast<std::size_t>(grid.count())), ignored_(ignored) {}
  void note(std::int64_t elapsed_ns, const Damage& damage);
  // 0 .. 1 per tile: saturating energy above the frame's mean, so that a moving camera draws no attention by itself.
  void conspicuity(std::int64_t elapsed_ns, std::vector<float>& out) const;
  void reset();

 private:
  double age_tau(std::int64_t elapsed_ns) const;

  TileGrid grid_;
  std::vector<float> energy_;
  std::span<const std::uint8_t> ignored_;
  std::int64_t reference_ns_ = 0;
};

// Centre-surround contrast of luma and chroma (Itti, Koch and Niebur 1998, intensity and colour channels): each tile's
// mean, a texel of level 4 of the pyramid, against the means of two neighbourhoods around it.
class CenterSurround {
 public:
  // `ignored`, borrowed: of each tile whether it counts for nothing (1), neither itself nor as surround. Empty: none.
  CenterSurround(TileGrid grid, const FrameGeometry& geometry, std::span<const std::uint8_t> ignored = {});
  void conspicuity(const Levels& levels, std::vector<float>& out);  // 0 .. 1 per tile

 private:
  void read_tiles(const Levels& levels);
  void tile_means(const PlaneLayout& plane, int level, int channel, float code_max, std::vector<float>& out) const;
  void sum_up(const std::vector<float>& channel);
  void add_contrast(const std::vector<float>& channel, float weight, std::vector<float>& out);

  TileGrid grid_;
  LevelImage image_;                            // reused for each level that is read
  std::array<std::vector<float>, 3> channels_;  // luma and two of colour, 0..1 and -1..1
  std::vector<double> sums_;                    // summed-area table, (cols + 1) x (rows + 1)
  std::span<const std::uint8_t> ignored_;
  std::vector<int> counts_;  // likewise, of the tiles that are not ignored; empty: none is
};

}  // namespace saccade
