// How views `error` and `weights` colour a tile. Pure functions.
#pragma once

#include <cstdint>

#include "kernels/held_picture.h"
#include "pipeline/gaze/weights/weight.h"

namespace saccade::ui {

// 0: none, the tile has no colour. 1 to 255: from the heat map's first colour to its last, by logarithm.
inline constexpr std::uint8_t kNoShade = 0;

// As the difference in codes of luma that each pixel of the tile would have: the colours span so many.
inline constexpr float kLeastCodes = 0.5f, kMostCodes = 128;
std::uint8_t shade_of_error(std::uint32_t error, Weight weight, const ErrorMeasure& measure);

inline constexpr float kLeastWeight = 1.0f / 64;  // of the first colour; the last one's is 1
std::uint8_t shade_of_weight(Weight weight);

}  // namespace saccade::ui
