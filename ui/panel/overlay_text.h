// The panel's small vocabulary: lines of text without heap allocation, sizes in points, titles, rows.
#pragma once

#include <fmt/format.h>
#include <imgui.h>

#include <functional>
#include <iterator>
#include <string_view>
#include <utility>

namespace saccade::ui {

inline constexpr float kFontPoints = 13.5f;  // the font's height that is asked for: its letters are 7 wide
inline const ImVec4 kDim{0.62f, 0.66f, 0.72f, 1.0f};
inline const ImVec4 kBright{0.95f, 0.96f, 0.98f, 1.0f};
inline const ImVec4 kAccent{0.98f, 0.82f, 0.35f, 1.0f};
inline const ImVec4 kAlarm{1.0f, 0.45f, 0.38f, 1.0f};

// Called after a control with its name, so that its place can be found again.
using Note = std::function<void(std::string_view)>;

// In pixels, by the scale that the context's UserData points to. The font's height tells less: from Dear ImGui 1.90 on
// it is a whole number of pixels.
inline float points(float value) {
  const auto* scale = static_cast<const float*>(ImGui::GetIO().UserData);
  return scale != nullptr ? value * *scale : value;
}

template <typename... Args>
void text(fmt::format_string<Args...> format, Args&&... args) {
  fmt::basic_memory_buffer<char, 256> line;
  fmt::format_to(std::back_inserter(line), format, std::forward<Args>(args)...);
  ImGui::TextUnformatted(line.data(), line.data() + line.size());
}

template <typename... Args>
void text_colored(const ImVec4& color, fmt::format_string<Args...> format, Args&&... args) {
  ImGui::PushStyleColor(ImGuiCol_Text, color);
  text(format, std::forward<Args>(args)...);
  ImGui::PopStyleColor();
}

// Ends at the right edge of the column or window.
template <typename... Args>
void text_right(const ImVec4& color, fmt::format_string<Args...> format, Args&&... args) {
  fmt::basic_memory_buffer<char, 256> line;
  fmt::format_to(std::back_inserter(line), format, std::forward<Args>(args)...);
  const float width = ImGui::CalcTextSize(line.data(), line.data() + line.size()).x;
  const float free = ImGui::GetContentRegionAvail().x - width;
  if (free > 0) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + free);
  ImGui::PushStyleColor(ImGuiCol_Text, color);
  ImGui::TextUnformatted(line.data(), line.data() + line.size());
  ImGui::PopStyleColor();
}

// Shown while the mouse rests on the item before.
inline void tooltip(const char* what) {
  if (*what == '\0' || !ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled)) return;
  ImGui::BeginTooltip();
  ImGui::PushTextWrapPos(points(300));
  ImGui::TextUnformatted(what);
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
}

inline void title(const char* what) {
  ImGui::Dummy({0, points(2)});
  ImGui::PushStyleColor(ImGuiCol_Text, kAccent);
  ImGui::TextUnformatted(what);
  ImGui::PopStyleColor();
}

}  // namespace saccade::ui
