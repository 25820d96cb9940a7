#include "ui/receiver/tile_shades.h"

#include <algorithm>
#include <cmath>

#include "kernels/pyramid_layout.h"

namespace saccade::ui {
namespace {

std::uint8_t shade(float value, float least, float most) {
  const float share = std::log2(value / least) / std::log2(most / least);
  return static_cast<std::uint8_t>(std::lround(1 + 254 * std::clamp(share, 0.0f, 1.0f)));
}

}  // namespace

std::uint8_t shade_of_error(std::uint32_t error, Weight weight, const ErrorMeasure& measure) {
  constexpr float kPixels = kTilePx * kTilePx;
  if (error == 0 || weight == 0) return kNoShade;
  const float a_pixel = static_cast<float>(error) * static_cast<float>(weight) / kFullWeight / kPixels;
  return shade(measure.power == 3 ? std::cbrt(a_pixel) : std::sqrt(a_pixel), kLeastCodes, kMostCodes);
}

std::uint8_t shade_of_weight(Weight weight) {
  return weight == 0 ? kNoShade : shade(static_cast<float>(weight) / kFullWeight, kLeastWeight, 1);
}

}  // namespace saccade::ui
