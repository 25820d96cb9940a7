// What changes without end is worth ever less: a film in a corner, a spinner, a feed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/held_picture.h"
#include "pipeline/gaze/weights/weight.h"

namespace saccade {

// Weighs a tile by 1 / (1 + n), n: how often it was sent in the last two seconds. Allocates until it is warm.
class Fatigue {
 public:
  explicit Fatigue(TileGrid grid);

  void note(std::int64_t pts_ns, std::span<const Square> sent);  // times don't fall
  // Multiplies the weight of each tile.
  void weigh(std::int64_t pts_ns, std::span<Weight> weights);
  void forget();

 private:
  struct Sent {
    std::int64_t pts_ns;
    Square square;
  };
  void count(const Square& square, int by);

  TileGrid grid_;
  std::vector<Sent> sent_;  // by time; those before first_ were taken off
  std::size_t first_ = 0;
  std::vector<std::uint32_t> counts_;  // of each tile
};

}  // namespace saccade
