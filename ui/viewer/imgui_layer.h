// Dear ImGui's context and its OpenGL drawing. Input comes by ui/input/imgui_input.h, between end() and begin().
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "ui/viewer/panel_text.h"

struct ImGuiContext;

namespace saccade::ui {

// What the viewer is seen on. Pictures get no input, and their time advances by a 60th of a second a frame.
enum class Surface : std::uint8_t { kPictures, kWindow, kPage };

// One at a time, on the thread that owns the GL context. Draws into the framebuffer that is bound.
class ImguiLayer {
 public:
  explicit ImguiLayer(Surface surface);
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
  bool has_list() const;  // one that was opened to choose from
  void close_list();

 private:
  float frame_s();

  const Surface surface_;
  std::int64_t begun_ns_ = 0;
  ImGuiContext* context_;
  PanelText text_;
  float scale_ = 0;  // pixels a point; 0 before the first begin()
};

}  // namespace saccade::ui
