#include "ui/window/window_input.h"

#include <algorithm>

namespace saccade::ui {
namespace {

constexpr int kSettleRedraws = 3;

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
  glfwSetCharCallback(window, [](GLFWwindow* w, unsigned) { of(w); });
  glfwSetDropCallback(window, [](GLFWwindow* w, int count, const char** paths) {
    WindowInput* input = of(w);
    if (count > 0) input->events_.dropped = paths[0];
  });
  events_.redraws = kSettleRedraws;
}

void WindowInput::key(int key, int action, int mods) {
  if (!view_ || action == GLFW_RELEASE) return;
  if ((mods & (GLFW_MOD_CONTROL | GLFW_MOD_ALT | GLFW_MOD_SUPER)) != 0) return;
  view_->key(key, (mods & GLFW_MOD_SHIFT) != 0, action == GLFW_REPEAT);
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
    view_->press(cursor_place());
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

void WindowInput::set_fullscreen(bool on) {
  if (on == (glfwGetWindowMonitor(window_) != nullptr)) return;
  if (!on) {
    glfwSetWindowMonitor(window_, nullptr, windowed_x_, windowed_y_, windowed_width_, windowed_height_, GLFW_DONT_CARE);
    return;
  }
  GLFWmonitor* monitor = glfwGetPrimaryMonitor();
  const GLFWvidmode* mode = monitor == nullptr ? nullptr : glfwGetVideoMode(monitor);
  if (mode == nullptr) return;
  glfwGetWindowPos(window_, &windowed_x_, &windowed_y_);
  glfwGetWindowSize(window_, &windowed_width_, &windowed_height_);
  glfwSetWindowMonitor(window_, monitor, 0, 0, mode->width, mode->height, mode->refreshRate);
}

}  // namespace saccade::ui
