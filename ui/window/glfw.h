// GLFW as owners.
#pragma once

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include <memory>
#include <string>

namespace saccade::ui {

// glfwInit and glfwTerminate. Throws UnavailableError without a display.
class GlfwLibrary {
 public:
  GlfwLibrary();
  ~GlfwLibrary();
  GlfwLibrary(const GlfwLibrary&) = delete;
  GlfwLibrary& operator=(const GlfwLibrary&) = delete;
};

struct GlfwWindowDeleter {
  void operator()(GLFWwindow* window) const noexcept { glfwDestroyWindow(window); }
};
using GlfwWindowPtr = std::unique_ptr<GLFWwindow, GlfwWindowDeleter>;

// A window with an OpenGL 4.5 core context, current on return. Its size is in points, of as many pixels as the monitor
// scales by. Throws UnavailableError.
GlfwWindowPtr make_window(const std::string& title, int width, int height);

}  // namespace saccade::ui
