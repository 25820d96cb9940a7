#include "pipeline/views/view.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <stdexcept>

namespace saccade {
namespace {

constexpr int kPatch = 16;
constexpr std::uint8_t kGrey = 128;

// Patches side by side, row after row, that cover the view.
PatchPlan plan_of(const View& view, int cols, int rows) {
  PatchPlan plan{.patch_size = kPatch, .patches = {}};
  const int side_px = kPatch << view.level;
  for (int row = 0; row < rows; ++row) {
    for (int col = 0; col < cols; ++col) {
      plan.patches.push_back(
          {.x_px = static_cast<float>(view.box.x + col * side_px) + 0.5f * static_cast<float>(side_px),
           .y_px = static_cast<float>(view.box.y + row * side_px) + 0.5f * static_cast<float>(side_px),
           .lod = static_cast<float>(view.level),
           .coverage = 1});
    }
  }
  return plan;
}

// Texels of a row or a column whose pixels lie in the frame, at least in part.
int texels_inside(int from_px, int frame_px, int level, int most) {
  return std::clamp((frame_px - from_px + (1 << level) - 1) >> level, 0, most);
}

}  // namespace

void read_view(Texture& texture, const ColorSpec& color, const View& view, std::span<std::uint8_t> out) {
  const auto [width, height] = view.size;
  if (out.size() != static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3) {
    throw std::invalid_argument("read_view: the memory has another size than the view");
  }
  const int inside_x = texels_inside(view.box.x, texture.layout().width_px, view.level, width);
  const int inside_y = texels_inside(view.box.y, texture.layout().height_px, view.level, height);
  const int cols = (inside_x + kPatch - 1) / kPatch, rows = (inside_y + kPatch - 1) / kPatch;
  const PatchPlan plan = plan_of(view, cols, rows);
  PatchBatch batch(plan.count(), kPatch, {});
  texture.sample(plan, color, batch);
  std::memset(out.data(), kGrey, out.size());
  for (int y = 0; y < inside_y; ++y) {
    std::uint8_t* to = out.data() + static_cast<std::ptrdiff_t>(y) * width * 3;
    for (int x = 0; x < inside_x; ++x) {
      const std::byte* const patch = batch.patch(static_cast<std::size_t>(y / kPatch * cols + x / kPatch)).data();
      const std::byte* const texel = patch + (y % kPatch) * kPatch + x % kPatch;
      for (int c = 0; c < 3; ++c) *to++ = static_cast<std::uint8_t>(texel[c * kPatch * kPatch]);
    }
  }
}

}  // namespace saccade
