#include "ui/picture/view_state.h"

namespace saccade::ui {
namespace {

constexpr std::array<const char*, kViewCount> kNames{"frame", "foveated", "level", "lod", "damage", "patches", "split"};

}  // namespace

const char* name(View view) { return kNames[static_cast<std::size_t>(view)]; }

std::optional<View> view_from_name(const std::string& text) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (text == kNames[i]) return static_cast<View>(i);
  }
  return std::nullopt;
}

}  // namespace saccade::ui
