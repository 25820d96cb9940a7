#include "ui/window/window.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "pipeline/backend/gl_log.h"
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
  void save_settings(const ViewRequests& requests);
  void apply_settings();
  void draw();
  bool can_be_seen() const;
  float scale() const;
  ViewSize size() const;
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
  const float ui_scale_;
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
      viewer_(context_, config.settings, Surface::kWindow, config.source.log),
      playback_(viewer_, {.source = config.source, .queue_policy = config.queue_policy, .open = config.open},
                wake_window),
      ui_scale_(config.ui_scale) {
  input_.attach(viewer_);
  vsync_ = !config.settings.vsync;  // so that it is set
  playback_.open();
}

// A file that exists is replaced when the person says so.
void Window::save_settings(const ViewRequests& requests) {
  std::string& exists = viewer_.facts.save_exists;
  if (requests.keep_file) exists.clear();
  if (!requests.save_settings || !hooks_.save_settings) return;
  Saved saved = hooks_.save_settings(*requests.save_settings, viewer_.settings, requests.replace);
  exists = saved.exists ? *requests.save_settings : std::string();
  if (saved.saved) viewer_.note_saved();
  if (!saved.exists) playback_.say(std::move(saved.said));
  input_.events().redraws = std::max(input_.events().redraws, 1);
}

void Window::take_requests() {
  const ViewRequests requests = std::exchange(viewer_.requests, ViewRequests{});
  if (requests.quit) glfwSetWindowShouldClose(window_.get(), GLFW_TRUE);
  if (requests.stay) viewer_.facts.asks_to_quit = false;
  save_settings(requests);
  if (requests.screenshot && hooks_.save_picture) {
    const ViewSize now = size();
    const Picture picture = viewer_.picture(now.width_px, now.height_px, now.scale);
    playback_.say(hooks_.save_picture(picture, viewer_.facts));
  }
  playback_.take(requests);
  if (auto dropped = std::exchange(input_.events().dropped, std::nullopt)) playback_.open_file(*std::move(dropped));
}

void Window::apply_settings() {
  const ViewSettings& settings = viewer_.settings;
  if (settings.vsync != vsync_) glfwSwapInterval(settings.vsync ? 1 : 0);
  vsync_ = settings.vsync;
  playback_.apply_settings();
  viewer_.settings.fullscreen = input_.set_fullscreen(settings.fullscreen);
  if (const StreamInfo* stream = viewer_.facts.stream; stream != nullptr && stream->uri != title_) {
    title_ = stream->uri;
    glfwSetWindowTitle(window_.get(), fmt::format("{} - saccade", title_).c_str());
  }
}

float Window::scale() const {
  float scale_x = 1, scale_y = 1;
  glfwGetWindowContentScale(window_.get(), &scale_x, &scale_y);
  return std::max(std::round(scale_x * 4) / 4, 1.0f) * ui_scale_;
}

ViewSize Window::size() const {
  int width = 0, height = 0;
  glfwGetFramebufferSize(window_.get(), &width, &height);
  return {std::max(width, 1), std::max(height, 1), scale()};
}

bool Window::can_be_seen() const {
  int width = 0, height = 0;  // 0: minimised on some systems, or dragged to nothing
  glfwGetFramebufferSize(window_.get(), &width, &height);
  return width > 0 && height > 0 && glfwGetWindowAttrib(window_.get(), GLFW_ICONIFIED) == GLFW_FALSE &&
         glfwGetWindowAttrib(window_.get(), GLFW_VISIBLE) != GLFW_FALSE;
}

// Frames go through the pipeline also while nobody can see them.
void Window::draw() {
  int& redraws = input_.events().redraws;
  if (playback_.take_redraw()) redraws = std::max(redraws, 1);
  if (!new_frame_ && redraws == 0) return;
  if (redraws > 0) --redraws;
  if (!new_frame_) viewer_.refresh();
  playback_.refresh_facts();
  if (can_be_seen()) {
    const ViewSize now = size();
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    viewer_.draw(now.width_px, now.height_px, now.scale);
    glfwSwapBuffers(window_.get());
    input_.show_cursor();
    ++viewer_.facts.pictures_drawn;
  }
  if (hooks_.report) hooks_.report(new_frame_ ? "frame" : "draw", viewer_);
  new_frame_ = false;
}

void Window::wait() {
  const double wait = input_.events().redraws > 0 ? 0 : playback_.wait_s();
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
    input_.deliver(size());
    new_frame_ |= playback_.advance();
    draw();
    take_requests();
    apply_settings();
    playback_.expire_texts();
    if (closing()) break;
    wait();
  }
  playback_.finish();
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
