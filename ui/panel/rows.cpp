#include "ui/panel/rows.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace saccade::ui {
namespace {

constexpr float kLabelPoints = 84;
constexpr float kValuePoints = 62;  // eight letters
constexpr float kGapPoints = 4;

void note_part(const char* part, const Row& row, const Note& note) {
  fmt::basic_memory_buffer<char, 48> name;
  fmt::format_to(std::back_inserter(name), "{}-{}", part, row.name);
  note({name.data(), name.size()});
}

// An arrow that goes round, back to where it began.
void draw_reset_icon(ImVec2 centre, ImU32 color) {
  constexpr float kFrom = -0.3f * std::numbers::pi_v<float>, kTo = 1.35f * std::numbers::pi_v<float>;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float radius = points(4), tip = points(3);
  list.PathArcTo(centre, radius, kFrom, kTo, 20);
  list.PathStroke(color, 0, points(1.3f));
  const ImVec2 end{centre.x + radius * std::cos(kFrom), centre.y + radius * std::sin(kFrom)};
  list.AddTriangleFilled({end.x - tip, end.y - tip * 0.9f}, {end.x + tip * 0.9f, end.y - tip * 0.9f},
                         {end.x + tip * 0.3f, end.y + tip}, color);
}

// The bar without its text, then the value as a field that can be typed in.
template <typename T>
RowEdit draw_slider(const Row& row, ImGuiDataType type, T& value, T low, T high, const char* format, bool differs,
                    const Note& note, ImGuiSliderFlags flags) {
  row_label(row, points(kValuePoints + kGapPoints) + reset_width());
  ImGui::PushID(row.name);
  ImGui::PushStyleColor(ImGuiCol_Text, 0);
  bool changed = ImGui::SliderScalar("##bar", type, &value, &low, &high, format, flags | ImGuiSliderFlags_NoInput);
  ImGui::PopStyleColor();
  tooltip(row.tip);
  note(row.name);
  ImGui::SameLine(0, points(kGapPoints));
  ImGui::SetNextItemWidth(points(kValuePoints));
  ImGui::PushStyleColor(ImGuiCol_FrameBg, IM_COL32(255, 255, 255, 10));
  changed |= ImGui::InputScalar("##value", type, &value, nullptr, nullptr, format,
                                ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_AutoSelectAll);
  ImGui::PopStyleColor();
  tooltip("Type a value, then Enter.");
  note_part("value", row, note);
  if (changed) value = std::clamp(value, low, std::max(low, high));
  const bool reset = reset_button(row, differs, note);
  ImGui::PopID();
  return reset ? RowEdit::kReset : changed ? RowEdit::kChanged : RowEdit::kNone;
}

}  // namespace

void row_label(const Row& row, float free) {
  ImGui::AlignTextToFramePadding();
  text_colored(kDim, "{}", row.label);
  tooltip(row.tip);
  ImGui::SameLine(points(kLabelPoints));
  ImGui::SetNextItemWidth(std::max(ImGui::GetContentRegionAvail().x - free, points(20)));
}

float reset_width() { return std::floor(points(kGapPoints + 16)); }

bool reset_button(const Row& row, bool differs, const Note& note) {
  ImGui::SameLine(0, points(kGapPoints));
  const ImVec2 size{reset_width() - points(kGapPoints), ImGui::GetFrameHeight()};
  if (!differs) {
    ImGui::Dummy(size);
    return false;
  }
  ImGui::PushStyleColor(ImGuiCol_Button, 0);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::PushID(row.name);
  const bool pressed = ImGui::Button("##reset", size);
  ImGui::PopID();
  ImGui::PopStyleColor();
  draw_reset_icon({at.x + size.x / 2, at.y + size.y / 2}, ImGui::GetColorU32(kAccent));
  tooltip("As it began.");
  note_part("reset", row, note);
  return pressed;
}

RowEdit slider_row(const Row& row, int& value, int low, int high, const char* format, bool differs, const Note& note,
                   ImGuiSliderFlags flags) {
  return draw_slider(row, ImGuiDataType_S32, value, low, high, format, differs, note, flags);
}

RowEdit slider_row(const Row& row, double& value, double low, double high, const char* format, bool differs,
                   const Note& note, ImGuiSliderFlags flags) {
  return draw_slider(row, ImGuiDataType_Double, value, low, high, format, differs, note, flags);
}

RowEdit combo_row(const Row& row, std::span<const char* const> words, std::size_t& chosen, bool differs,
                  const Note& note, const char* other) {
  row_label(row, reset_width());
  bool changed = false;
  ImGui::PushID(row.name);
  const bool open = ImGui::BeginCombo("##list", chosen < words.size() ? words[chosen] : other);
  note(row.name);
  if (open) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (!ImGui::Selectable(words[i], i == chosen)) continue;
      changed = i != chosen;
      chosen = i;
    }
    ImGui::EndCombo();
  }
  ImGui::PopID();
  const bool reset = reset_button(row, differs, note);
  return reset ? RowEdit::kReset : changed ? RowEdit::kChanged : RowEdit::kNone;
}

}  // namespace saccade::ui
