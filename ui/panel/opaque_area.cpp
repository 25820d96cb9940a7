#include "ui/panel/opaque_area.h"

#include <glad/gl.h>

#include <array>

#include "ui/panel/overlay_text.h"

namespace saccade::ui {
namespace {

constexpr std::array<float, 3> kFill{0.075f, 0.083f, 0.098f};
constexpr ImU32 kVeil = IM_COL32(12, 14, 17, 224);  // letters are read over any picture
constexpr ImU32 kEdge = IM_COL32(255, 255, 255, 36);

}  // namespace

void OpaqueArea::fill_window(bool opaque) {
  opaque_ = opaque;
  const ImVec2 low = ImGui::GetWindowPos(), size = ImGui::GetWindowSize();
  const ImVec2 high{low.x + size.x, low.y + size.y};
  rect_ = {static_cast<int>(low.x), static_cast<int>(low.y), static_cast<int>(high.x), static_cast<int>(high.y)};
  display_height_px_ = static_cast<int>(ImGui::GetIO().DisplaySize.y);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.PushClipRect(low, high);
  if (opaque) {
    list.AddCallback(&OpaqueArea::clear, this);
  } else {
    list.AddRectFilled(low, high, kVeil);
  }
  list.AddRect(low, high, kEdge, 0, 0, points(1));
  list.PopClipRect();
}

// Inside ImGui's renderer, which sets the scissor for each command of its own.
void OpaqueArea::clear(const ImDrawList*, const ImDrawCmd* command) {
  const auto& area = *static_cast<const OpaqueArea*>(command->UserCallbackData);
  const PixelBox& rect = area.rect_;
  if (rect.empty()) return;
  glEnable(GL_SCISSOR_TEST);
  glScissor(rect.left, area.display_height_px_ - rect.bottom, rect.right - rect.left, rect.bottom - rect.top);
  glClearColor(kFill[0], kFill[1], kFill[2], 1);
  glClear(GL_COLOR_BUFFER_BIT);
}

}  // namespace saccade::ui
