// Levels 1 and up of the GL textures, by compute shaders, where damage touched level 0.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gpu/gl/pbo_ring.h"
#include "kernels/damage.h"
#include "kernels/gl/planes.h"

namespace saccade {

// One dispatch a plane makes the levels a tile makes alone, and leaves each tile's exact sum in a side array; one
// dispatch a plane and level makes the coarser ones from those sums. Borrows the planes. Owning thread; refresh()
// allocates nothing.
class GlMips {
 public:
  GlMips(const gl::Capabilities& capabilities, const PyramidLayout& layout, std::span<const GlPlane> planes);
  void refresh(const Damage& damage);

 private:
  // Squares of 2^step x 2^step tiles: step 0 is the padded tile grid, step k the texels of luma level 4 + k.
  struct Step {
    TileGrid grid;
    std::vector<std::uint8_t> marked;  // empty between calls
    std::uint32_t first = 0;           // of this frame's work list
    std::uint32_t count = 0;
  };
  struct PlaneWork {
    gl::Program tiles, coarse;
    gl::Buffer sums;
    std::vector<std::uint32_t> base;  // of each step, in entries of `sums`
    int tile_levels = 4;              // log2 of the tile size
  };

  void list_tiles(const Damage& damage);
  void list_parents(std::size_t step);
  void dispatch_tiles(const GlPlane& plane, const PlaneWork& work) const;
  void dispatch_coarse(std::size_t step) const;

  std::span<const GlPlane> planes_;
  TileGrid image_tiles_;
  std::vector<Step> steps_;
  std::vector<PlaneWork> work_;
  std::vector<std::uint32_t> items_;  // this frame's squares of all steps, x | y << 16
  gl::PboRing lists_;                 // how they get to GL
};

}  // namespace saccade
