// The letters that ImGui draws with: those of the panel's own words always, others when a text needs them.
#pragma once

#include <imgui.h>

#include <map>
#include <optional>
#include <string_view>

#include "ui/viewer/fonts.h"

namespace saccade::ui {

// One thread, that of ImGui's context.
class PanelText {
 public:
  // A text is about to be drawn, in UTF-8.
  void need(std::string_view utf8);
  bool changed() const { return changed_; }  // since load()
  // Rebuilds ImGui's font for this height; without an outline font it is ImGui's own.
  void load(float height_px);

 private:
  std::map<FontFile, ImFontGlyphRangesBuilder> by_file() const;

  ImFontGlyphRangesBuilder needed_;
  bool changed_ = true;
};

}  // namespace saccade::ui
