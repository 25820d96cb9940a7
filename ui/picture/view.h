// What the viewer draws.
#pragma once

#include <cstdint>
#include <iterator>
#include <span>

#include "kernels/enum_names.h"

namespace saccade::ui {

// By View's number in view_frag.glsl.
enum class View : std::uint8_t {
  kFrame,
  kHeld,
  kError,
  kWeights,
  kFoveated,
  kLevel,
  kLod,
  kDamage,
  kPatches,
  kSplit,
  kCompare
};
inline constexpr EnumName<View> kViews[] = {
    {View::kFrame, "frame"},       {View::kHeld, "held"},   {View::kError, "error"},    {View::kWeights, "weights"},
    {View::kFoveated, "foveated"}, {View::kLevel, "level"}, {View::kLod, "lod"},        {View::kDamage, "damage"},
    {View::kPatches, "patches"},   {View::kSplit, "split"}, {View::kCompare, "compare"}};
inline constexpr int kViewCount = std::size(kViews);
constexpr std::span<const EnumName<View>> names_of(View) { return kViews; }
using saccade::name;

// Of a dump there are only the patches: what they hold, its levels, and the level of detail.
constexpr bool needs_video(View view) { return view != View::kFrame && view != View::kLevel && view != View::kLod; }

// What the receiver holds, how far that is from the frame, and what an error there weighs: only lattice `adaptive`
// keeps it.
constexpr bool needs_adaptive(View view) {
  return view == View::kHeld || view == View::kError || view == View::kWeights;
}

}  // namespace saccade::ui
