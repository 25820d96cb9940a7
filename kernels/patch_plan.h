// What to sample: the patches of one emission.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace saccade {

// S x S samples around a centre, `2^lod` level-0 pixels apart. See Note [Sample positions] in shared/sampling.h.
struct Patch {
  float x_px = 0;  // centre, continuous level-0 pixels, origin at the image's top-left corner
  float y_px = 0;
  float lod = 0;       // 0 .. levels - 1
  float coverage = 0;  // share of the samples whose position lies inside the image, 0..1
  bool operator==(const Patch&) const = default;
};

// N is constant for a given frame size and settings. Lattices overwrite a plan in place: no allocation per frame.
struct PatchPlan {
  int patch_size = 16;  // S
  float fix_x_px = 0;   // the fixation the plan was made for
  float fix_y_px = 0;
  std::vector<Patch> patches;
  std::size_t count() const { return patches.size(); }
};

// u, v, lod and coverage of each patch, in a frame of this size; out: N x 4.
void write_geometry(const PatchPlan& plan, int width_px, int height_px, std::span<float> out);

// The reverse, from N x 4 floats at any alignment. False: a place or a level is none that a lattice gives, such as NaN.
bool read_geometry(std::span<const std::byte> geometry, int width_px, int height_px, std::vector<Patch>& out);

// Share of the S x S samples inside the image [0, width) x [0, height).
float patch_coverage(const Patch& patch, int patch_size, int width_px, int height_px);

}  // namespace saccade
