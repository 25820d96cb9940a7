#include "ui/tuning/words.h"

#include <cctype>
#include <utility>

namespace saccade::ui {
namespace {

// Options whose rows are called otherwise.
constexpr std::pair<std::string_view, std::string_view> kLabels[] = {
    {"fov-deg", "view angle"}, {"min-pixels", "min samples"}, {"patch-size", "patch size"}, {"m0", "M0"}};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_'; }

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

std::string in_panel_words(std::string_view fault) {
  std::string words;
  while (!fault.empty()) {
    std::size_t end = 0;
    while (end < fault.size() && is_word(fault[end])) ++end;
    std::string_view word = fault.substr(0, end == 0 ? 1 : end);
    fault.remove_prefix(word.size());
    for (const auto& [option, label] : kLabels) {
      if (word == option) word = label;
    }
    words += word;
  }
  return words;
}

}  // namespace saccade::ui
