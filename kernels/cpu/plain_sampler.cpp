#include "kernels/cpu/ops.h"

#include <cstring>

#include "kernels/cpu/sample_math.h"

namespace saccade {
namespace {

// One plane: its levels and what a texel of them is.
struct PlaneReader {
  std::span<const LevelView> levels;
  int channels = 1;
  bool wide = false;
  PlaneScale scale;

  float fetch(const LevelView& level, int x, int y, int channel) const {
    const int index = x * channels + channel;
    if (!wide) return static_cast<float>(level.row(y)[index]);
    std::uint16_t value = 0;
    std::memcpy(&value, level.row(y) + 2 * index, 2);
    return static_cast<float>(value);
  }

  float bilinear(int level, float x_px, float y_px, int channel) const {
    const LevelView& view = levels[static_cast<std::size_t>(level)];
    const float unit = shared::level_scale(level);
    const AxisTap x = axis_tap(shared::texel_coordinate(x_px, scale.plane_scale, scale.shift_x, unit), view.width);
    const AxisTap y = axis_tap(shared::texel_coordinate(y_px, scale.plane_scale, scale.shift_y, unit), view.height);
    const float top =
        shared::lerp(fetch(view, x.first, y.first, channel), fetch(view, x.second, y.first, channel), x.weight);
    const float bottom =
        shared::lerp(fetch(view, x.first, y.second, channel), fetch(view, x.second, y.second, channel), x.weight);
    return shared::lerp(top, bottom, y.weight);
  }

  float trilinear(float lod, float x_px, float y_px, int channel) const {
    const LevelMix mix = level_mix(lod, static_cast<int>(levels.size()));
    const float fine = bilinear(mix.first, x_px, y_px, channel);
    if (mix.fraction == 0.0f) return fine;
    return shared::lerp(fine, bilinear(mix.second, x_px, y_px, channel), mix.fraction);
  }
};

shared::Rgb sample_rgb(const SampleSource& source, float lod, float x_px, float y_px) {
  if (source.chroma.empty()) {
    const PlaneReader rgba{source.luma, 4, false, {}};
    return {rgba.trilinear(lod, x_px, y_px, 0) / 255.0f, rgba.trilinear(lod, x_px, y_px, 1) / 255.0f,
            rgba.trilinear(lod, x_px, y_px, 2) / 255.0f};
  }
  const PlaneReader luma{source.luma, 1, source.wide, {}};
  const PlaneReader chroma{source.chroma, 2, source.wide, {0.5f, source.site_shift_x, source.site_shift_y}};
  const float chroma_lod = shared::chroma_lod(lod);
  return shared::ycbcr_to_rgb(luma.trilinear(lod, x_px, y_px, 0), chroma.trilinear(chroma_lod, x_px, y_px, 0),
                              chroma.trilinear(chroma_lod, x_px, y_px, 1), source.color);
}

void store(float value, int channel, const SampleFormat& format, std::byte* out, std::size_t index) {
  const auto c = static_cast<std::size_t>(channel);
  if (format.type == SampleType::kU8) {
    out[index] = static_cast<std::byte>(static_cast<int>(shared::min(value * 255.0f + 0.5f, 255.0f)));
    return;
  }
  const float normalised = (value - format.mean[c]) * format.inv_std[c];
  if (format.type == SampleType::kF16) {
    const auto half = static_cast<std::uint16_t>(shared::half_from_float(normalised));
    std::memcpy(out + 2 * index, &half, 2);
  } else {
    std::memcpy(out + 4 * index, &normalised, 4);
  }
}

}  // namespace

void plain_sample_patch(const SampleSource& source, const Patch& patch, int size, const SampleFormat& format,
                        std::byte* out) {
  const float pitch_px = shared::exp2(patch.lod);
  const auto side = static_cast<std::size_t>(size);
  for (int j = 0; j < size; ++j) {
    const float y_px = shared::sample_position_px(patch.y_px, j, size, pitch_px);
    for (int i = 0; i < size; ++i) {
      const float x_px = shared::sample_position_px(patch.x_px, i, size, pitch_px);
      shared::Rgb rgb{0.0f, 0.0f, 0.0f};
      if (patch.coverage > 0.0f) rgb = sample_rgb(source, patch.lod, x_px, y_px);
      const std::size_t at = static_cast<std::size_t>(j) * side + static_cast<std::size_t>(i);
      store(rgb.r, 0, format, out, at);
      store(rgb.g, 1, format, out, side * side + at);
      store(rgb.b, 2, format, out, 2 * side * side + at);
    }
  }
}

}  // namespace saccade
