// Keeps a window's events in their order until the loop gives them to PanelInput, and those that are the window's own.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ui/input/panel_input.h"
#include "ui/window/glfw.h"

namespace saccade::ui {

// What the loop has to do that is neither a setting nor a request of the panel.
struct InputEvents {
  int redraws = 0;                     // pictures still to draw: the panel settles over a few
  std::optional<std::string> dropped;  // a file
};

// Installs its callbacks on `window`, which must outlive it. One at a time a window.
class WindowInput {
 public:
  explicit WindowInput(GLFWwindow* window);
  ~WindowInput();
  WindowInput(const WindowInput&) = delete;
  WindowInput& operator=(const WindowInput&) = delete;
  void attach(Viewer& viewer);
  InputEvents& events() { return events_; }
  const InputEvents& events() const { return events_; }
  void deliver(const ViewSize& size);  // what came since the last call
  void show_cursor();                  // as the panel wants it
  bool set_fullscreen(bool on);        // returns what it is then

 private:
  using Event = std::variant<MoveInput, ButtonInput, WheelInput, KeyInput>;
  static WindowInput* of(GLFWwindow* window);
  void key(int key, int action, int mods);
  void character(char32_t character);
  void button(int button, int action);
  void cursor(double x, double y);
  void leave();
  void wheel(double dx, double dy);
  MoveInput place(double x, double y) const;
  GLFWmonitor* monitor() const;

  GLFWwindow* window_;
  std::optional<PanelInput> panel_;  // none before attach()
  std::vector<Event> waiting_;       // oldest first
  InputEvents events_;
  struct Cursor {
    const char* name;  // as CSS has it
    GLFWcursor* shape;
  };
  std::vector<Cursor> cursors_;
  std::string_view shown_cursor_ = "default";
  MoveInput at_;     // where the cursor is, by the events so far
  int buttons_ = 0;  // held, a bit each
  int windowed_x_ = 0, windowed_y_ = 0, windowed_width_ = 1280, windowed_height_ = 720;
};

}  // namespace saccade::ui
