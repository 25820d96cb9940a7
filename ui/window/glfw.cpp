#include "ui/window/glfw.h"

#include <fmt/format.h>

#include <cstdlib>

#include "pipeline/error.h"

namespace saccade::ui {
namespace {

std::string last_error() {
  const char* text = nullptr;
  glfwGetError(&text);
  return text == nullptr ? "no reason given" : text;
}

// GLFW 3.4 tries Wayland before X11. Where no compositor can be reached, libwayland writes a line of its own to stderr.
void choose_platform() {
#if defined(GLFW_PLATFORM)
  const auto is_set = [](const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0';
  };
  const char* display = std::getenv("WAYLAND_DISPLAY");
  const bool has_socket =
      is_set("XDG_RUNTIME_DIR") || is_set("WAYLAND_SOCKET") || (display != nullptr && *display == '/');
  if (!has_socket && glfwPlatformSupported(GLFW_PLATFORM_X11) == GLFW_TRUE) {
    glfwInitHint(GLFW_PLATFORM, GLFW_PLATFORM_X11);
  }
#endif
}

}  // namespace

GlfwLibrary::GlfwLibrary() {
  choose_platform();
  if (glfwInit() == GLFW_FALSE) {
    throw UnavailableError(fmt::format("view: no display to open a window on ({})", last_error()), Hint::kOffscreen);
  }
}

GlfwLibrary::~GlfwLibrary() { glfwTerminate(); }

GlfwWindowPtr make_window(const std::string& title, int width, int height) {
  glfwDefaultWindowHints();
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 4);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 5);
  glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  glfwWindowHint(GLFW_OPENGL_DEBUG_CONTEXT, GLFW_TRUE);
  glfwWindowHint(GLFW_CONTEXT_ROBUSTNESS, GLFW_LOSE_CONTEXT_ON_RESET);
  glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);
  glfwWindowHint(GLFW_DEPTH_BITS, 0);
  glfwWindowHint(GLFW_STENCIL_BITS, 0);
  GlfwWindowPtr window(glfwCreateWindow(width, height, title.c_str(), nullptr, nullptr));
  if (!window) {  // not every driver can tell of a reset, and some refuse to be asked
    glfwWindowHint(GLFW_CONTEXT_ROBUSTNESS, GLFW_NO_ROBUSTNESS);
    window.reset(glfwCreateWindow(width, height, title.c_str(), nullptr, nullptr));
  }
  if (!window) {
    throw UnavailableError(
        fmt::format("view: no window with OpenGL 4.5 can be made here ({}); update the graphics driver", last_error()),
        Hint::kOffscreen);
  }
  glfwMakeContextCurrent(window.get());
  return window;
}

}  // namespace saccade::ui
