#include "kernels/patch_plan.h"

#include <cmath>
#include <cstring>

#include "kernels/pyramid_layout.h"
#include "kernels/shared/sampling.h"

namespace saccade {
namespace {

constexpr float kFarPx = 1e7f;  // no patch of a frame is farther away

int samples_inside(float centre_px, float pitch_px, int size, int extent_px) {
  int inside = 0;
  for (int i = 0; i < size; ++i) {
    const float position = shared::sample_position_px(centre_px, i, size, pitch_px);
    inside += position >= 0.0f && position < static_cast<float>(extent_px) ? 1 : 0;
  }
  return inside;
}

}  // namespace

float patch_coverage(const Patch& patch, int patch_size, int width_px, int height_px) {
  const float pitch_px = std::exp2(patch.lod);
  const int inside = samples_inside(patch.x_px, pitch_px, patch_size, width_px) *
                     samples_inside(patch.y_px, pitch_px, patch_size, height_px);
  return static_cast<float>(inside) / static_cast<float>(patch_size * patch_size);
}

void write_geometry(const PatchPlan& plan, int width_px, int height_px, std::span<float> out) {
  float* at = out.data();
  for (const Patch& patch : plan.patches) {
    *at++ = patch.x_px / static_cast<float>(width_px);
    *at++ = patch.y_px / static_cast<float>(height_px);
    *at++ = patch.lod;
    *at++ = patch.coverage;
  }
}

bool read_geometry(std::span<const std::byte> geometry, int width_px, int height_px, std::vector<Patch>& out) {
  float row[4];
  out.resize(geometry.size() / sizeof row);
  for (std::size_t n = 0; n < out.size(); ++n) {
    std::memcpy(row, geometry.data() + n * sizeof row, sizeof row);
    const Patch patch{row[0] * static_cast<float>(width_px), row[1] * static_cast<float>(height_px), row[2], row[3]};
    const bool near = std::fabs(patch.x_px) < kFarPx && std::fabs(patch.y_px) < kFarPx;
    if (!near || !(patch.lod >= 0 && patch.lod < kMaxLevels)) return false;
    out[n] = patch;
  }
  return true;
}

}  // namespace saccade
