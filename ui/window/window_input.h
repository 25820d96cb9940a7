// Gives the window's events to ViewInput, and keeps those that are the window's own.
#pragma once

#include <optional>
#include <string>

#include "ui/viewer/view_input.h"
#include "ui/window/glfw.h"

namespace saccade::ui {

// What the loop has to do that is neither a setting nor a request of the panel.
struct InputEvents {
  int redraws = 0;                     // pictures still to draw: the panel settles over a few
  std::optional<std::string> dropped;  // a file
};

// Installs its callbacks on `window`, which must outlive it, before the panel's own. One at a time a window.
class WindowInput {
 public:
  explicit WindowInput(GLFWwindow* window);
  void attach(Viewer& viewer) { view_.emplace(viewer); }
  InputEvents& events() { return events_; }
  const InputEvents& events() const { return events_; }
  bool set_fullscreen(bool on);  // returns what it is then

 private:
  static WindowInput* of(GLFWwindow* window);
  void key(int key, int action, int mods);
  void character(char32_t character);
  void button(int button, int action);
  void cursor(double x, double y);
  void wheel(double dy);
  ViewInput::Place place(double x, double y) const;
  ViewInput::Place cursor_place() const;
  GLFWmonitor* monitor() const;

  GLFWwindow* window_;
  std::optional<ViewInput> view_;  // none before attach()
  InputEvents events_;
  struct Pressed {
    Key place = 0;
    bool shift = false, repeated = false, super = false;
  } pressed_;  // the key that went down last
  int windowed_x_ = 0, windowed_y_ = 0, windowed_width_ = 1280, windowed_height_ = 720;
};

}  // namespace saccade::ui
