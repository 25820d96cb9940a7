#include "ui/tuning/words.h"

#include <string_view>
#include <utility>

namespace saccade::ui {
namespace {

// Options whose rows are called otherwise.
constexpr std::pair<std::string_view, std::string_view> kLabels[] = {
    {"fov-deg", "view angle"}, {"min-samples", "min samples"}, {"patch-size", "patch size"}, {"m0", "M0"}};

}  // namespace

const char* in_words(View view, bool recorded) {
  switch (view) {
    case View::kFrame:
      return recorded ? "what the patches hold" : "the frame";
    case View::kFoveated:
      return "what the eye sees";
    case View::kLevel:
      return "one level";
    case View::kLod:
      return "level of detail";
    case View::kDamage:
      return "changed tiles";
    case View::kPatches:
      return "the patches";
    case View::kSplit:
      return "frame | what the eye sees";
    case View::kCompare:
      return "two lattices compared";
    case View::kHeld:
      return "what the receiver holds";
    case View::kError:
      return "error of what it holds";
    case View::kWeights:
      return "what an error weighs";
  }
  return "";
}

const char* in_words(LatticeKind kind) {
  switch (kind) {
    case LatticeKind::kNested:
      return "nested rings";
    case LatticeKind::kGrid:
      return "even grid";
    case LatticeKind::kUniform:
      return "one resolution";
    case LatticeKind::kAdaptive:
      return "what the receiver lacks";
  }
  return "";
}

const char* in_words(FixationPolicy policy) {
  switch (policy) {
    case FixationPolicy::kNovelty:
      return "what is new and not yet seen";
    case FixationPolicy::kSaliency:
      return "what stands out";
    case FixationPolicy::kCenter:
      return "one place";
    case FixationPolicy::kRandom:
      return "random places";
    case FixationPolicy::kRaster:
      return "a raster, row by row";
    case FixationPolicy::kFile:
      return "a recorded scanpath";
  }
  return "";
}

std::string in_panel_words(const Fault& fault) {
  Fault told = fault;
  for (auto named = fault.options.rbegin(); named != fault.options.rend(); ++named) {
    for (const auto& [option, label] : kLabels) {
      if (named->name == option) told.what.replace(named->at, option.size(), label);
    }
  }
  return one_line(told);
}

}  // namespace saccade::ui
