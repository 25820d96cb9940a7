// Dear ImGui's context and its OpenGL drawing, with a window behind it or without.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "ui/viewer/panel_text.h"

struct GLFWwindow;
struct ImGuiContext;

namespace saccade::ui {

// What the viewer is seen on.
struct Surface {
  GLFWwindow* window = nullptr;  // null: pictures
  bool served = false;           // that go to a page, which sends input
};

// One at a time, on the thread that owns the GL context. Draws into the framebuffer that is bound.
class ImguiLayer {
 public:
  // A window's input comes from it; a served surface's is set between end() and begin(). Else none comes, and time
  // advances by a 60th of a second a frame.
  explicit ImguiLayer(const Surface& surface);
  ~ImguiLayer();
  ImguiLayer(const ImguiLayer&) = delete;
  ImguiLayer& operator=(const ImguiLayer&) = delete;

  // Texts that are about to be drawn, in UTF-8: letters that the font lacks are taken from another.
  void need(std::span<const std::string_view> texts);

  // Sizes in pixels of the framebuffer; scale: how many of them make a point (HiDPI).
  void begin(int width_px, int height_px, float scale);
  void end();   // draws
  void drop();  // in place of end(): the panel took its input, and nothing is drawn
  bool wants_mouse() const;
  bool wants_keyboard() const;

 private:
  float frame_s();

  const Surface surface_;
  GLFWwindow* window_;
  std::int64_t begun_ns_ = 0;
  ImGuiContext* context_;
  PanelText text_;
  float scale_ = 0;  // pixels a point; 0 before the first begin()
};

}  // namespace saccade::ui
