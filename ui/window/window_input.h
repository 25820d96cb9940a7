// Turns the window's events into settings and requests.
#pragma once

#include <optional>
#include <string>

#include "ui/viewer/viewer.h"
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
  void attach(Viewer& viewer) { viewer_ = &viewer; }
  InputEvents& events() { return events_; }
  const InputEvents& events() const { return events_; }
  void set_fullscreen(bool on);

 private:
  static WindowInput* of(GLFWwindow* window);
  void key(int key, int action, int mods);
  void act(int key, bool shift);
  void button(int button, int action);
  void cursor(double x, double y);
  void wheel(double dy);
  struct Place {
    float x, y, width, height;  // of the framebuffer
  };
  Place place(double x, double y) const;
  PictureMapping mapping() const;

  GLFWwindow* window_;
  Viewer* viewer_ = nullptr;
  InputEvents events_;
  enum class Drag : unsigned char { kNone, kPending, kPan, kSeam } drag_ = Drag::kNone;
  Place pressed_{}, last_{};
  int windowed_x_ = 0, windowed_y_ = 0, windowed_width_ = 1280, windowed_height_ = 720;
};

}  // namespace saccade::ui
