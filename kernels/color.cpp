#include "kernels/color.h"

namespace saccade {
namespace {

// Kr and Kb of H.273 table 4.
struct LumaWeights {
  double kr, kb;
};

LumaWeights luma_weights(ColorMatrix matrix) {
  switch (matrix) {
    case ColorMatrix::kBt601:
      return {0.299, 0.114};
    case ColorMatrix::kBt709:
      return {0.2126, 0.0722};
    case ColorMatrix::kBt2020:
      return {0.2627, 0.0593};
    case ColorMatrix::kSmpte240m:
      return {0.212, 0.087};
  }
  return {0.299, 0.114};
}

}  // namespace

ColorMatrix default_matrix(int width_px, int height_px) {
  return height_px >= 720 || width_px >= 1280 ? ColorMatrix::kBt709 : ColorMatrix::kBt601;
}

shared::ColorParams make_color_params(const ColorSpec& spec, float code_max) {
  const int storage_bits = spec.depth_bits > 8 ? 16 : 8;
  const int align_shift = storage_bits - spec.depth_bits;
  // Code values at the sample's own depth (H.273 equations 20 to 25), then aligned to the top of the storage.
  const double unit = static_cast<double>(1 << (spec.depth_bits - 8));
  const bool full = spec.range == ColorRange::kFull;
  const double black = full ? 0.0 : 16.0 * unit;
  const double white = full ? static_cast<double>((1 << spec.depth_bits) - 1) : 235.0 * unit;
  const double chroma_span = full ? static_cast<double>((1 << spec.depth_bits) - 1) : 224.0 * unit;
  const double chroma_zero = 128.0 * unit;

  const double storage_max = static_cast<double>((1 << storage_bits) - 1);
  const double per_code = static_cast<double>(1 << align_shift) * static_cast<double>(code_max) / storage_max;

  const auto [kr, kb] = luma_weights(spec.matrix);
  const double kg = 1.0 - kr - kb;
  const double chroma_scale = 1.0 / (chroma_span * per_code);
  shared::ColorParams p{};
  p.y_offset = static_cast<float>(black * per_code);
  p.y_scale = static_cast<float>(1.0 / ((white - black) * per_code));
  p.c_offset = static_cast<float>(chroma_zero * per_code);
  p.r_cr = static_cast<float>(2.0 * (1.0 - kr) * chroma_scale);
  p.g_cb = static_cast<float>(-2.0 * (1.0 - kb) * kb / kg * chroma_scale);
  p.g_cr = static_cast<float>(-2.0 * (1.0 - kr) * kr / kg * chroma_scale);
  p.b_cb = static_cast<float>(2.0 * (1.0 - kb) * chroma_scale);
  return p;
}

}  // namespace saccade
