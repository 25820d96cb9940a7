// What the viewer draws.
#pragma once

#include <cstdint>
#include <iterator>
#include <span>

#include "kernels/enum_names.h"

namespace saccade::ui {

enum class View : std::uint8_t { kFrame, kFoveated, kLevel, kLod, kDamage, kPatches, kSplit, kCompare };
inline constexpr EnumName<View> kViews[] = {
    {View::kFrame, "frame"},   {View::kFoveated, "foveated"}, {View::kLevel, "level"}, {View::kLod, "lod"},
    {View::kDamage, "damage"}, {View::kPatches, "patches"},   {View::kSplit, "split"}, {View::kCompare, "compare"}};
inline constexpr int kViewCount = std::size(kViews);
constexpr std::span<const EnumName<View>> names_of(View) { return kViews; }
using saccade::name;

// Of a dump there are only the patches: what they hold, its levels, and the level of detail.
constexpr bool needs_video(View view) { return view != View::kFrame && view != View::kLevel && view != View::kLod; }

}  // namespace saccade::ui
