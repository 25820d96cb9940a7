// What the viewer draws.
#pragma once

#include <cstdint>
#include <iterator>
#include <span>

#include "kernels/enum_names.h"

namespace saccade::ui {

enum class View : std::uint8_t { kFrame, kFoveated, kLevel, kLod, kDamage, kPatches, kSplit };
inline constexpr EnumName<View> kViews[] = {
    {View::kFrame, "frame"},   {View::kFoveated, "foveated"}, {View::kLevel, "level"}, {View::kLod, "lod"},
    {View::kDamage, "damage"}, {View::kPatches, "patches"},   {View::kSplit, "split"}};
inline constexpr int kViewCount = std::size(kViews);
constexpr std::span<const EnumName<View>> names_of(View) { return kViews; }
using saccade::name;

}  // namespace saccade::ui
