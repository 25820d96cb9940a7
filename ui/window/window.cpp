#include "ui/window/window.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "pipeline/backend/gl_log.h"
#include "pipeline/clock.h"
#include "pipeline/error.h"
#include "ui/viewer/playback.h"
#include "ui/window/glfw.h"
#include "ui/window/window_input.h"

namespace saccade::ui {
namespace {

class Window {
 public:
  Window(const WindowConfig& config, const WindowHooks& hooks);
  WindowResult run();

 private:
  void take_requests();
  void apply_settings();
  void draw();
  void wait();
  bool closing() const { return glfwWindowShouldClose(window_.get()) != GLFW_FALSE; }

  const WindowHooks& hooks_;
  GlfwLibrary library_;
  GlfwWindowPtr window_;
  gl::Context context_;
  WindowInput input_;
  Viewer viewer_;
  Playback playback_;
  bool new_frame_ = false;  // shown, not drawn yet
  bool vsync_ = false;
  std::string title_;
};

Window::Window(const WindowConfig& config, const WindowHooks& hooks)
    : hooks_(hooks),
      window_(make_window("saccade", config.width_px, config.height_px)),
      context_([&config] {
        try {
          return gl::Context::adopt(&glfwGetProcAddress, logging_context_config(config.source.log));
        } catch (const gl::GlError& error) {
          throw_fault(fault_of(error), "view");
        }
      }()),
      input_(window_.get()),
      viewer_(context_, config.settings, window_.get(), config.source.log),
      playback_(viewer_, {config.source, config.queue_policy}, wake_window) {
  input_.attach(viewer_);
  vsync_ = !config.settings.vsync;  // so that it is set
  playback_.open();
}

void Window::take_requests() {
  const ViewRequests requests = std::exchange(viewer_.requests, ViewRequests{});
  if (requests.quit) glfwSetWindowShouldClose(window_.get(), GLFW_TRUE);
  if (requests.save_settings && hooks_.save_settings) {
    playback_.say(hooks_.save_settings(*requests.save_settings, viewer_.settings));
  }
  if (requests.screenshot && hooks_.save_picture) {
    int width = 0, height = 0;
    glfwGetFramebufferSize(window_.get(), &width, &height);
    glReadBuffer(GL_BACK);
    viewer_.draw(width, height, 1);
    playback_.say(hooks_.save_picture(read_picture(width, height), viewer_.facts));
  }
  playback_.take(requests);
  if (auto dropped = std::exchange(input_.events().dropped, std::nullopt)) playback_.open_file(*std::move(dropped));
}

void Window::apply_settings() {
  const ViewSettings& settings = viewer_.settings;
  if (settings.vsync != vsync_) glfwSwapInterval(settings.vsync ? 1 : 0);
  vsync_ = settings.vsync;
  playback_.apply_settings(steady_now_ns());
  input_.set_fullscreen(settings.fullscreen);
  if (const StreamInfo* stream = viewer_.facts.stream; stream != nullptr && stream->uri != title_) {
    title_ = stream->uri;
    glfwSetWindowTitle(window_.get(), fmt::format("{} - saccade", title_).c_str());
  }
}

void Window::draw() {
  int& redraws = input_.events().redraws;
  if (playback_.take_redraw()) redraws = std::max(redraws, 1);
  if (!new_frame_ && redraws == 0) return;
  if (redraws > 0) --redraws;
  if (!new_frame_) viewer_.refresh();
  playback_.refresh_facts();
  int width = 0, height = 0;
  glfwGetFramebufferSize(window_.get(), &width, &height);
  if (width > 0 && height > 0) {  // minimised, or dragged to nothing: nothing to draw on
    float scale_x = 1, scale_y = 1;
    glfwGetWindowContentScale(window_.get(), &scale_x, &scale_y);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    viewer_.draw(width, height, std::max(std::round(scale_x * 4) / 4, 1.0f));
    glfwSwapBuffers(window_.get());
  }
  if (hooks_.report) hooks_.report(new_frame_ ? "frame" : "draw", viewer_);
  new_frame_ = false;
}

void Window::wait() {
  const double wait = input_.events().redraws > 0 ? 0 : playback_.wait_s(steady_now_ns());
  if (wait < 0) {
    glfwWaitEvents();
  } else if (wait > 0) {
    glfwWaitEventsTimeout(wait);
  } else {
    glfwPollEvents();
  }
}

WindowResult Window::run() {
  const auto stopped = [&] { return hooks_.stopped && hooks_.stopped(); };
  while (!closing() && !stopped()) {
    new_frame_ |= playback_.advance(steady_now_ns());
    draw();
    take_requests();
    apply_settings();
    playback_.expire_message(steady_now_ns());
    if (closing()) break;
    wait();
  }
  playback_.refresh_facts();
  if (hooks_.report) hooks_.report("end", viewer_);
  WindowResult result{viewer_.facts, viewer_.facts.error};
  result.facts.stream = nullptr;
  result.facts.step.damage = nullptr;
  result.facts.look.plan = nullptr;
  result.facts.look.fovea = nullptr;
  result.facts.pyramid = nullptr;
  return result;
}

}  // namespace

WindowResult run_window(const WindowConfig& config, const WindowHooks& hooks) { return Window(config, hooks).run(); }

void wake_window() { glfwPostEmptyEvent(); }

}  // namespace saccade::ui
