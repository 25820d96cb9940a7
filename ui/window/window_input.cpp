#include "ui/window/window_input.h"

#include <algorithm>

namespace saccade::ui {
namespace {

constexpr int kSettleRedraws = 3;

// A key that types nothing, or the same in every layout; 0: none of these.
Key silent_key(int key) {
  switch (key) {
    case GLFW_KEY_SPACE:
      return kKeySpace;
    case GLFW_KEY_TAB:
      return kKeyTab;
    case GLFW_KEY_BACKSPACE:
      return kKeyBackspace;
    case GLFW_KEY_ESCAPE:
      return kKeyEscape;
    case GLFW_KEY_LEFT:
      return kKeyLeft;
    case GLFW_KEY_RIGHT:
      return kKeyRight;
    case GLFW_KEY_UP:
      return kKeyUp;
    case GLFW_KEY_DOWN:
      return kKeyDown;
    case GLFW_KEY_HOME:
      return kKeyHome;
    case GLFW_KEY_END:
      return kKeyEnd;
    default:
      return 0;
  }
}

// GLFW names its keys by what they type on a keyboard of the United States, in capitals.
Key place_of(int key) {
  if (key >= GLFW_KEY_A && key <= GLFW_KEY_Z) return static_cast<Key>(key - GLFW_KEY_A + 'a');
  return key > GLFW_KEY_SPACE && key <= GLFW_KEY_GRAVE_ACCENT ? static_cast<Key>(key) : 0;
}

// Of the layout in force: a key that has a letter in every script.
bool has_latin_letters() {
  const char* name = glfwGetKeyName(GLFW_KEY_F, 0);
  return name == nullptr || static_cast<unsigned char>(*name) < 0x80;
}

}  // namespace

WindowInput* WindowInput::of(GLFWwindow* window) {
  auto* input = static_cast<WindowInput*>(glfwGetWindowUserPointer(window));
  input->events_.redraws = kSettleRedraws;
  return input;
}

WindowInput::WindowInput(GLFWwindow* window) : window_(window) {
  glfwSetWindowUserPointer(window, this);
  glfwSetKeyCallback(window, [](GLFWwindow* w, int key, int, int action, int mods) { of(w)->key(key, action, mods); });
  glfwSetMouseButtonCallback(window, [](GLFWwindow* w, int button, int action, int) { of(w)->button(button, action); });
  glfwSetCursorPosCallback(window, [](GLFWwindow* w, double x, double y) { of(w)->cursor(x, y); });
  glfwSetScrollCallback(window, [](GLFWwindow* w, double, double dy) { of(w)->wheel(dy); });
  glfwSetFramebufferSizeCallback(window, [](GLFWwindow* w, int, int) { of(w); });
  glfwSetWindowRefreshCallback(window, [](GLFWwindow* w) { of(w); });
  glfwSetCharCallback(window, [](GLFWwindow* w, unsigned character) { of(w)->character(character); });
  glfwSetDropCallback(window, [](GLFWwindow* w, int count, const char** paths) {
    WindowInput* input = of(w);
    if (count > 0) input->events_.dropped = paths[0];
  });
  events_.redraws = kSettleRedraws;
}

// What it types follows at once, as a character.
void WindowInput::key(int key, int action, int mods) {
  if (action == GLFW_RELEASE) return;
  pressed_ = {place_of(key), (mods & GLFW_MOD_SHIFT) != 0, action == GLFW_REPEAT, (mods & GLFW_MOD_SUPER) != 0};
  if ((mods & (GLFW_MOD_CONTROL | GLFW_MOD_ALT | GLFW_MOD_SUPER)) != 0) return;
  const Key silent = silent_key(key);
  if (view_ && silent != 0) view_->key(silent, pressed_.shift, pressed_.repeated);
}

// Control and alt type no character, but where both are AltGr.
void WindowInput::character(char32_t character) {
  if (!view_ || character <= ' ' || pressed_.super) return;
  const Key key = key_of({character, pressed_.place, pressed_.shift, has_latin_letters()});
  view_->key(key, pressed_.shift, pressed_.repeated);
}

// Cursor positions are in the window's units, which on some systems are not pixels.
ViewInput::Place WindowInput::place(double x, double y) const {
  int width = 1, height = 1, pixel_width = 1, pixel_height = 1;
  glfwGetWindowSize(window_, &width, &height);
  glfwGetFramebufferSize(window_, &pixel_width, &pixel_height);
  const double ratio_x = static_cast<double>(pixel_width) / std::max(width, 1);
  const double ratio_y = static_cast<double>(pixel_height) / std::max(height, 1);
  return {static_cast<float>(x * ratio_x), static_cast<float>(y * ratio_y), static_cast<float>(pixel_width),
          static_cast<float>(pixel_height)};
}

ViewInput::Place WindowInput::cursor_place() const {
  double x = 0, y = 0;
  glfwGetCursorPos(window_, &x, &y);
  return place(x, y);
}

void WindowInput::button(int button, int action) {
  if (!view_ || button != GLFW_MOUSE_BUTTON_LEFT) return;
  if (action == GLFW_PRESS) {
    view_->press(cursor_place(), glfwGetTime());
  } else {
    view_->release(cursor_place());
  }
}

void WindowInput::cursor(double x, double y) {
  if (view_) view_->move(place(x, y));
}

void WindowInput::wheel(double dy) {
  if (view_) view_->wheel(cursor_place(), dy);
}

// The one that shows most of the window.
GLFWmonitor* WindowInput::monitor() const {
  int x = 0, y = 0, width = 0, height = 0, count = 0;
  glfwGetWindowPos(window_, &x, &y);
  glfwGetWindowSize(window_, &width, &height);
  GLFWmonitor* const* monitors = glfwGetMonitors(&count);
  GLFWmonitor* best = glfwGetPrimaryMonitor();
  long most = 0;
  for (int i = 0; i < count; ++i) {
    int left = 0, top = 0;
    glfwGetMonitorPos(monitors[i], &left, &top);
    const GLFWvidmode* mode = glfwGetVideoMode(monitors[i]);
    if (mode == nullptr) continue;
    const long across = std::min(x + width, left + mode->width) - std::max(x, left);
    const long down = std::min(y + height, top + mode->height) - std::max(y, top);
    if (across <= 0 || down <= 0 || across * down <= most) continue;
    most = across * down;
    best = monitors[i];
  }
  return best;
}

bool WindowInput::set_fullscreen(bool on) {
  if (on == (glfwGetWindowMonitor(window_) != nullptr)) return on;
  if (!on) {
    glfwSetWindowMonitor(window_, nullptr, windowed_x_, windowed_y_, windowed_width_, windowed_height_, GLFW_DONT_CARE);
    return false;
  }
  GLFWmonitor* wanted = monitor();
  const GLFWvidmode* mode = wanted == nullptr ? nullptr : glfwGetVideoMode(wanted);
  if (mode == nullptr) return false;
  glfwGetWindowPos(window_, &windowed_x_, &windowed_y_);
  glfwGetWindowSize(window_, &windowed_width_, &windowed_height_);
  glfwSetWindowMonitor(window_, wanted, 0, 0, mode->width, mode->height, mode->refreshRate);
  return true;
}

}  // namespace saccade::ui
