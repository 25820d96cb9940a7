// What earlier emissions showed, as far as it has not changed since.
//
// Note [Memory of emissions]
// A sample of lattice `nested` is a texel: the mean of its 2^lod x 2^lod pixels. Where all of them were seen as fine or
// finer, that mean is known. If the sample is no rounding of it, the place has changed: it and its eight neighbours are
// forgotten. If it is one, the finer pixels stay. If more than half of what can be compared has changed, a cut or a
// moving camera, all is forgotten: what still agrees does so by chance.
// Where no patch lies, what was last shown stays in the picture: lattice `adaptive` sends what has changed alone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/patch_plan.h"

namespace saccade {

// Of frames of one size. One thread; emissions come in the order of their times.
class PictureMemory {
 public:
  static constexpr std::int32_t kStays = -1, kUncovered = -2;  // in place of a patch's number

  PictureMemory(int width_px, int height_px, int patch_size);
  void forget();
  // Of each pixel of the frame the patch to be painted there, kStays: what was there is finer and still true, or no
  // patch is there now, or kUncovered: none ever was. Valid until the next call. Empty, and nothing was taken in:
  // samples between texels. samples: N x 3 x S x S in 0..255.
  std::span<const std::int32_t> add(std::span<const Patch> patches, std::span<const float> samples);

 private:
  // The texels of a patch's level that it covers; begin to end meet the frame.
  struct Placed {
    std::int32_t number = 0;
    int lod = 0;
    int left = 0, top = 0;  // of its first sample
    int begin_x = 0, end_x = 0, begin_y = 0, end_y = 0;
  };
  // Means of what is held, planar, and the coarsest lod in each. A level above 0 has a column and a row beyond the
  // frame, where the edge is repeated.
  struct Level {
    int width = 0, height = 0;
    std::vector<float> means;
    std::vector<std::uint8_t> coarsest;
  };
  struct Rgb {
    float r, g, b;
  };

  void doubt_all();
  bool place(std::span<const Patch> patches);
  void build_levels(int last);
  void build_level(const Level& finer, Level& out) const;
  void compare(std::span<const float> samples);
  void compare_patch(const Placed& patch, std::uint8_t* known, std::span<const float> samples);
  void own(const Placed& patch, const std::uint8_t* known);
  void hold(const Placed& patch, std::span<const float> samples);
  bool differs(const Placed& patch, int x, int y, const Rgb& sample) const;
  float color_spread(const Placed& patch, int x, int y) const;
  Rgb mean(const Level& level, int x, int y) const;
  Rgb sample(const Placed& patch, int x, int y, std::span<const float> samples) const;
  void doubt(const Placed& patch, int x, int y);
  int texels(int extent_px, int lod) const { return (extent_px + (1 << lod) - 1) >> lod; }

  int patch_size_;
  std::vector<Level> levels_;  // [0] is what is held: colour and lod of each pixel
  std::vector<std::uint8_t> doubted_;
  std::vector<std::uint8_t> covered_;  // of each pixel: a patch was there
  std::vector<std::int32_t> owner_;
  std::vector<Placed> placed_;               // coarse ones first
  std::vector<std::uint8_t> known_;          // of each placed patch, S x S: could be compared
  std::int64_t compared_ = 0, changed_ = 0;  // pixels
  bool empty_ = true;
};

}  // namespace saccade
