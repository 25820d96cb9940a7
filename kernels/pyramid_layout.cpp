#include "kernels/pyramid_layout.h"

#include <fmt/format.h>

#include <algorithm>

namespace saccade {
namespace {

constexpr int round_up(int value, int multiple) { return (value + multiple - 1) / multiple * multiple; }
constexpr int ceil_shift(int value, int shift) { return (value + (1 << shift) - 1) >> shift; }

}  // namespace

PyramidLayout make_pyramid_layout(int width_px, int height_px, TextureFormat format, int levels) {
  if (width_px < 1 || height_px < 1) {
    throw LayoutError(LayoutError::Reason::kArguments,
                      fmt::format("a frame of {}x{} pixels has no pyramid", width_px, height_px));
  }
  if (levels < 1 || levels > kMaxLevels) {
    throw LayoutError(LayoutError::Reason::kArguments,
                      fmt::format("{} levels: the range is 1 to {}", levels, kMaxLevels));
  }
  const int multiple = std::max(kExtentPx, 1 << (levels - 1));
  const int extent = std::max(width_px, height_px);
  if (multiple > kExtentPx && extent <= kMaxExtentPx && round_up(extent, kExtentPx) <= kMaxExtentPx &&
      extent > kMaxExtentPx - multiple + 1) {
    int most = levels - 1;
    while (extent > kMaxExtentPx - std::max(kExtentPx, 1 << (most - 1)) + 1) --most;
    throw LayoutError(
        LayoutError::Reason::kTooManyLevels,
        fmt::format("{} levels pad a frame of {}x{} pixels beyond the largest texture, {}x{}: {} or fewer fit", levels,
                    width_px, height_px, kMaxExtentPx, kMaxExtentPx, most));
  }
  if (width_px > kMaxExtentPx - multiple + 1 || height_px > kMaxExtentPx - multiple + 1) {
    throw LayoutError(LayoutError::Reason::kTooLarge,
                      fmt::format("a frame of {}x{} pixels with {} levels is larger than the largest texture, {}x{}",
                                  width_px, height_px, levels, kMaxExtentPx, kMaxExtentPx));
  }
  PyramidLayout layout;
  layout.width_px = width_px;
  layout.height_px = height_px;
  layout.levels = levels;
  layout.format = format;
  const int padded_width = round_up(width_px, multiple);
  const int padded_height = round_up(height_px, multiple);
  layout.tiles = {ceil_shift(width_px, 4), ceil_shift(height_px, 4)};
  layout.padded_tiles = {padded_width / kTilePx, padded_height / kTilePx};

  const int depth_bytes = format == TextureFormat::kYuv16 ? 2 : 1;
  const bool rgba = format == TextureFormat::kRgba8;
  layout.plane_count = rgba ? 1 : 2;
  layout.planes[0] = {.channels = rgba ? 4 : 1,
                      .bytes_per_channel = depth_bytes,
                      .subsample_log2 = 0,
                      .image_width = width_px,
                      .image_height = height_px,
                      .width = padded_width,
                      .height = padded_height,
                      .levels = levels};
  if (!rgba) {
    layout.planes[1] = {.channels = 2,
                        .bytes_per_channel = depth_bytes,
                        .subsample_log2 = 1,
                        .image_width = ceil_shift(width_px, 1),
                        .image_height = ceil_shift(height_px, 1),
                        .width = padded_width / 2,
                        .height = padded_height / 2,
                        .levels = std::max(levels - 1, 1)};
  }
  return layout;
}

std::int64_t PyramidLayout::level0_bytes() const {
  std::int64_t bytes = 0;
  for (int p = 0; p < plane_count; ++p) bytes += planes[static_cast<std::size_t>(p)].level0_bytes();
  return bytes;
}

PyramidLayout level0_of(PyramidLayout layout) {
  layout.levels = 1;
  for (PlaneLayout& plane : layout.planes) plane.levels = 1;
  return layout;
}

void check_fits(const FrameView& frame, const PyramidLayout& layout) {
  if (frame.width_px == layout.width_px && frame.height_px == layout.height_px &&
      texture_format(frame.layout) == layout.format)
    return;
  throw std::invalid_argument(fmt::format("a {}x{} {} frame does not fit a {}x{} {} texture", frame.width_px,
                                          frame.height_px, name(frame.layout), layout.width_px, layout.height_px,
                                          name(layout.format)));
}

}  // namespace saccade
