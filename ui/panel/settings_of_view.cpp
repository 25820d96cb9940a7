// The panel's rows of what is drawn, and how.
#include <imgui.h>

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "pipeline/views/token_rule.h"
#include "ui/panel/overlay_text.h"
#include "ui/panel/rows.h"
#include "ui/panel/settings_panel.h"
#include "ui/picture/frame_renderer.h"
#include "ui/tuning/words.h"

namespace saccade::ui {
namespace {

bool box(const char* what, bool& value, const char* tip) {
  const bool changed = ImGui::Checkbox(what, &value);
  tooltip(tip);
  return changed;
}

}  // namespace

void SettingsPanel::view_row(ViewSettings& settings, const ViewFacts& facts, const Note& note) const {
  const bool recorded = facts.look.recorded;
  const auto words_of = [&](View view) {
    return has_view(view, settings.pipeline, recorded) ? in_words(view, recorded) : nullptr;
  };
  const RowEdit edit = words_row({"view", "view", "What is drawn. Tab: the next one."}, settings.view,
                                 settings.view != initial_.view, note, words_of);
  if (edit == RowEdit::kReset) settings.view = initial_.view;
}

void SettingsPanel::view_rows(ViewSettings& settings, const ViewFacts& facts, const Note& note) const {
  view_row(settings, facts, note);
  if (settings.view == View::kLevel) {
    const int top = facts.pyramid != nullptr ? facts.pyramid->layout().levels - 1 : 0;
    number_row({"level", "level", "Level of the pyramid. Keys: the digits."}, settings.level, 0, std::max(top, 0), "%d",
               initial_.level, note);
  }
  if (settings.view == View::kSplit) {
    auto split = static_cast<double>(settings.split);
    if (number_row({"seam at", "split", "Share of the width that shows the frame; the rest shows what the eye sees."},
                   split, 0.0, 1.0, "%.2f", static_cast<double>(initial_.split), note)) {
      settings.split = static_cast<float>(split);
    }
  }
  if (settings.view == View::kCompare) {
    const RowEdit edit = words_row({"against", "compare", "The lattice that gets as many patches, at the right."},
                                   settings.compare, settings.compare != initial_.compare, note, [](LatticeKind each) {
                                     return each != LatticeKind::kAdaptive ? in_words(each) : nullptr;
                                   });
    if (edit == RowEdit::kReset) settings.compare = initial_.compare;
  }
  if (!facts.look.recorded) box_rows(settings, note);
  number_row({"speed", "speed", "Of the video's time against the clock. Keys: [ ]"}, settings.speed, 0.1, 16.0,
             "%.2f x", initial_.speed, note, ImGuiSliderFlags_Logarithmic);
  boxes(settings, facts, note);
}

// Which model's views have boxes in the picture; none of them is the first of the list.
void SettingsPanel::box_rows(ViewSettings& settings, const Note& note) const {
  std::vector<const char*> models{"no model"};
  for (const NamedRule& row : named_rules()) models.push_back(row.name);
  const auto is_chosen = [&](const char* model) { return settings.views.model == model; };
  std::size_t chosen = 0;
  if (settings.boxes) {
    chosen = static_cast<std::size_t>(std::find_if(models.begin() + 1, models.end(), is_chosen) - models.begin());
  }
  const bool differs = settings.boxes != initial_.boxes || settings.views.model != initial_.views.model;
  const RowEdit edit = combo_row({"views for", "boxes", "Boxes of the pictures that this model would be sent (b)"},
                                 models, chosen, differs, note);
  if (edit == RowEdit::kReset) {
    settings.boxes = initial_.boxes;
    settings.views.model = initial_.views.model;
  } else if (edit == RowEdit::kChanged) {
    settings.boxes = chosen > 0;
    if (settings.boxes) settings.views.model = models[chosen];
  }
  if (!settings.boxes) return;
  number_row({"tokens", "views-tokens", "Of all pictures of a look, at most."}, settings.views.tokens, 64, 8192, "%d",
             initial_.views.tokens, note, ImGuiSliderFlags_Logarithmic);
}

// Two lines of three, each with a reset of its own.
void SettingsPanel::boxes(ViewSettings& settings, const ViewFacts& facts, const Note& note) const {
  struct Box {
    const char* name;
    bool ViewSettings::*value;
    const char* tip;
  };
  constexpr std::array<Box, 6> kBoxes{
      {{"marks", &ViewSettings::marks, "Fixation and the trail of the last saccades (m)"},
       {"outlines", &ViewSettings::outlines, "Outlines of the patches around the fixation (o)"},
       {"scanpath", &ViewSettings::scanpath, "Past fixations with their numbers (k)"},
       {"linear", &ViewSettings::linear, "Enlarge with linear filtering; off: hard texels (n)"},
       {"loop", &ViewSettings::loop, "Begin again at the end (l)"},
       {"vsync", &ViewSettings::vsync, "Wait for the screen's refresh (v)"}}};
  const float third = (ImGui::GetContentRegionAvail().x - reset_width()) / 3;
  const float left = ImGui::GetCursorPosX();
  for (std::size_t line = 0; line < kBoxes.size(); line += 3) {
    bool differs = false;
    const bool no_screen = line > 0 && facts.served;  // to wait for: vsync, the last box, is a window's
    const auto boxes = std::span(kBoxes).subspan(line, no_screen ? 2 : 3);
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      if (i > 0) ImGui::SameLine(left + third * static_cast<float>(i));
      box(boxes[i].name, settings.*boxes[i].value, boxes[i].tip);
      note(boxes[i].name);
      differs |= settings.*boxes[i].value != initial_.*boxes[i].value;
    }
    ImGui::SameLine(left + 3 * third);
    ImGui::SetCursorPosX(left + 3 * third - points(4));
    if (!reset_button({"", line == 0 ? "marks" : "playing", ""}, differs, note)) continue;
    for (const Box& each : boxes) settings.*each.value = initial_.*each.value;
  }
}

}  // namespace saccade::ui
