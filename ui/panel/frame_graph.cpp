#include "ui/panel/frame_graph.h"

#include <imgui.h>

#include <algorithm>

#include "ui/panel/overlay_text.h"

namespace saccade::ui {
namespace {

constexpr float kTop_ms = 50.0f;
constexpr float kHeightPoints = 58;
constexpr ImU32 kWork = IM_COL32(90, 140, 200, 170);
constexpr ImU32 kWorkOver = IM_COL32(200, 60, 50, 190);
constexpr ImU32 kFrame = IM_COL32(250, 209, 89, 255);

float y_of(float ms, float top, float bottom) { return bottom - (bottom - top) * std::clamp(ms / kTop_ms, 0.0f, 1.0f); }

void draw_work(ImDrawList& list, const Ring<240>& ring, ImVec2 low, ImVec2 high, float over_ms) {
  const float step = (high.x - low.x) / static_cast<float>(ring.values.size());
  for (std::size_t i = 0; i < ring.count; ++i) {
    const float x = high.x - step * static_cast<float>(ring.count - i);
    const float ms = ring.at(i);
    list.AddRectFilled({x, y_of(ms, low.y, high.y)}, {x + step, high.y}, ms > over_ms ? kWorkOver : kWork);
  }
}

void draw_intervals(ImDrawList& list, const Ring<240>& ring, ImVec2 low, ImVec2 high) {
  std::array<ImVec2, 240> line;
  const float step = (high.x - low.x) / static_cast<float>(ring.values.size());
  for (std::size_t i = 0; i < ring.count; ++i) {
    line[i] = {high.x - step * (static_cast<float>(ring.count - i) - 0.5f), y_of(ring.at(i), low.y, high.y)};
  }
  list.AddPolyline(line.data(), static_cast<int>(ring.count), kFrame, 0, points(1));
}

}  // namespace

void draw_frame_graph(const ViewFacts& facts) {
  const ImVec2 low = ImGui::GetCursorScreenPos();
  const ImVec2 high{low.x + ImGui::GetContentRegionAvail().x, low.y + points(kHeightPoints)};
  ImGui::Dummy({high.x - low.x, high.y - low.y});
  tooltip(
      "The last 240 frames, 0 to 50 ms. Line: from one shown frame to the next. Bars: the main thread's work in it; "
      "red where it took longer than a frame has.");
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(low, high, IM_COL32(20, 24, 30, 230));
  list.PushClipRect(low, high, true);
  if (!facts.offscreen) {
    draw_work(list, facts.pace.work_ms, low, high,
              facts.pace.budget_ms > 0 ? static_cast<float>(facts.pace.budget_ms) : kTop_ms);
  }
  for (const float ms : {16.7f, 33.3f}) {
    const float y = y_of(ms, low.y, high.y);
    list.AddLine({low.x, y}, {high.x, y}, IM_COL32(255, 255, 255, 80));
    list.AddText({low.x + points(3), y - points(13)}, ImGui::GetColorU32(kDim), ms < 20 ? "16.7 ms" : "33.3 ms");
  }
  if (!facts.offscreen) draw_intervals(list, facts.pace.frame_ms, low, high);
  list.PopClipRect();
}

}  // namespace saccade::ui
