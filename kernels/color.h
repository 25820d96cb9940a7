// What the colour tags of a frame say, and the coefficients that follow from them.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/enum_names.h"
#include "kernels/shared/color.h"

namespace saccade {

enum class ColorMatrix : std::uint8_t { kBt601, kBt709, kBt2020, kSmpte240m };
enum class ColorRange : std::uint8_t { kLimited, kFull };

inline constexpr EnumName<ColorMatrix> kColorMatrices[] = {{ColorMatrix::kBt601, "bt601"},
                                                           {ColorMatrix::kBt709, "bt709"},
                                                           {ColorMatrix::kBt2020, "bt2020nc"},
                                                           {ColorMatrix::kSmpte240m, "smpte240m"}};
constexpr std::span<const EnumName<ColorMatrix>> names_of(ColorMatrix) { return kColorMatrices; }
inline constexpr EnumName<ColorRange> kColorRanges[] = {{ColorRange::kLimited, "limited"}, {ColorRange::kFull, "full"}};
constexpr std::span<const EnumName<ColorRange>> names_of(ColorRange) { return kColorRanges; }

// Tags after defaults were applied: never "unknown".
struct ColorSpec {
  ColorMatrix matrix = ColorMatrix::kBt601;
  ColorRange range = ColorRange::kLimited;
  std::uint8_t depth_bits = 8;  // significant bits of a sample, 8..16
  // Where chroma samples sit: added to x/2 (y/2) to get a chroma coordinate, in chroma texels of level 0.
  // MPEG "left": (0.25, 0). Centre (JPEG): (0, 0). Top-left: (0.25, 0.25).
  float site_shift_x = 0.25f;
  float site_shift_y = 0.0f;
  bool operator==(const ColorSpec&) const = default;
};

// Untagged video: BT.709 when height >= 720 or width >= 1280, else BT.601.
ColorMatrix default_matrix(int width_px, int height_px);

// Coefficients for samples stored in 8 (depth 8) or 16 bits (deeper; most significant bit aligned, as in P010).
// code_max: what a sample with all storage bits set reads as: 255 or 65535 for code values, 1 for normalised reads.
shared::ColorParams make_color_params(const ColorSpec& spec, float code_max);

}  // namespace saccade
