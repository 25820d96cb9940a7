#include "ui/window/window.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "pipeline/backend/gl_log.h"
#include "pipeline/clock.h"
#include "pipeline/error.h"
#include "pipeline/run/pacer.h"
#include "ui/window/feed_jobs.h"
#include "ui/window/glfw.h"
#include "ui/window/window_input.h"

namespace saccade::ui {
namespace {

constexpr std::int64_t kEarly_ns = 1'000'000;        // a frame this near its time is shown
constexpr double kStarved_s = 0.002;                 // how soon to look again when the decoder has nothing
constexpr double kIdle_s = 0.5;                      // while a message is to go away
constexpr std::int64_t kMessage_ns = 4'000'000'000;  // how long one stays

class Window {
 public:
  Window(const WindowConfig& config, const WindowHooks& hooks);
  WindowResult run();

 private:
  void finish_jobs();
  void play(std::unique_ptr<Feed> feed);
  void open_dropped(const std::string& path);
  void advance();
  void show(Frame frame, bool sought);
  void show_wanted();
  void show_due();
  bool fetch_next();
  void reach_end();
  void take_requests();
  void seek(std::int64_t pts_ns);
  void step_by(int frames);
  void apply_settings();
  void expire_message();
  void say(std::string message);
  void draw();
  void refresh_facts();
  double wait_s();
  Feed* feed() { return jobs_.seeking() ? nullptr : viewer_.feed(); }  // null: none yet, or it seeks
  bool playing() const { return !viewer_.settings.paused && !viewer_.facts.time.ended; }

  const WindowHooks& hooks_;
  GlfwLibrary library_;
  GlfwWindowPtr window_;
  gl::Context context_;
  WindowInput input_;
  Viewer viewer_;
  ViewSettings initial_;
  SourceConfig source_config_;  // of the newest source that was to be opened
  FeedJobs jobs_;
  Pacer pacer_;
  std::int64_t sought_pts_ns_ = 0;
  Frame next_;          // decoded, waiting for its time
  bool wanted_ = true;  // the next frame is shown as soon as it is there: start, seek, step
  bool wanted_sought_ = true;
  bool new_frame_ = false;  // shown, not drawn yet
  bool starved_ = false;
  bool was_paused_ = false;
  bool vsync_ = false;
  bool replaced_ = false;  // by a file that was dropped
  std::string message_;
  std::int64_t message_at_ns_ = 0;
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
      initial_(config.settings),
      source_config_(config.source),
      jobs_(config.queue_policy, wake_window) {
  input_.attach(viewer_);
  vsync_ = !config.settings.vsync;  // so that it is set
  jobs_.open(source_config_);
}

// The old source goes on when the new one can't be opened.
void Window::finish_jobs() {
  try {
    if (auto opened = jobs_.take_opened()) play(std::move(opened));
  } catch (const Error& error) {
    if (viewer_.facts.stream == nullptr) throw;
    say(one_line(error.fault()));
  }
  if (const auto sought = jobs_.take_sought(); sought && !*sought) say("this input could not be sought");
}

void Window::play(std::unique_ptr<Feed> feed) {
  replaced_ = viewer_.facts.stream != nullptr;
  next_ = Frame{};  // it belongs to the old feed
  jobs_.give_up_seeking();
  viewer_.facts.time.start_pts_ns = feed->start_pts_ns();
  viewer_.facts.time.seekable = feed->seekable();
  viewer_.attach(std::move(feed));
  wanted_ = wanted_sought_ = true;
  pacer_.stop();
  glfwSetWindowTitle(window_.get(), fmt::format("{} - saccade", source_config_.uri).c_str());
}

void Window::open_dropped(const std::string& path) {
  SourceConfig config;
  config.uri = path;
  config.threads = source_config_.threads;
  config.log = source_config_.log;
  source_config_ = config;
  jobs_.open(config);
}

void Window::say(std::string message) {
  source_config_.log.info("{}", message);
  viewer_.facts.message = std::move(message);
}

void Window::show(Frame frame, bool sought) {
  viewer_.show(std::move(frame), sought);
  new_frame_ = true;
  viewer_.facts.time.ended = false;
}

// The decoder's next frame in `next_`. False: none is ready, or there are no more.
bool Window::fetch_next() {
  if (next_) return true;
  if (feed() == nullptr) return false;
  const PollStatus status = feed()->poll(next_);
  starved_ = status == PollStatus::kLater;
  if (status == PollStatus::kEnd) reach_end();
  return status == PollStatus::kFrame;
}

void Window::reach_end() {
  const Feed& feed = *this->feed();
  viewer_.facts.pace.frames_corrupt = feed.counters().frames_corrupt;
  const bool broke = !feed.fault().what.empty();
  if (broke && viewer_.facts.error.empty()) {
    viewer_.facts.error = one_line(feed.fault());
    source_config_.log.warn("{}", viewer_.facts.error);
  }
  const bool from_start = viewer_.settings.loop && !broke && feed.seekable();
  if (from_start && viewer_.has_frame()) {
    seek(feed.start_pts_ns());
    return;
  }
  wanted_ = false;
  if (!viewer_.facts.time.ended) input_.events().redraws = 1;
  viewer_.facts.time.ended = true;
  pacer_.stop();
}

void Window::advance() {
  starved_ = false;
  finish_jobs();
  if (viewer_.settings.paused != was_paused_) {
    was_paused_ = viewer_.settings.paused;
    if (!was_paused_ && viewer_.facts.time.ended) seek(viewer_.facts.time.start_pts_ns);
    pacer_.stop();
  }
  try {
    if (wanted_) {
      show_wanted();
    } else if (playing()) {
      show_due();
    }
  } catch (const Error& error) {  // a frame that can't be shown, as one larger than the largest texture
    if (viewer_.facts.step.counters.frames == 0 && !replaced_) throw;
    viewer_.facts.error = one_line(error.fault());
    viewer_.facts.time.ended = true;
    wanted_ = false;
    say(viewer_.facts.error);
  }
}

void Window::show_wanted() {
  if (!fetch_next()) return;
  wanted_ = false;
  show(std::exchange(next_, Frame{}), wanted_sought_);
  pacer_.start_at(viewer_.facts.time.pts_ns, steady_now_ns());
}

// Shows what is due. A frame whose successor is due as well comes too late: it is dropped, and counted.
void Window::show_due() {
  if (!pacer_.running()) pacer_.start_at(viewer_.facts.time.pts_ns, steady_now_ns());
  if (!fetch_next()) return;
  const std::int64_t now = steady_now_ns();
  Feed& feed = *this->feed();
  const bool live = feed.info().live;  // the newest frame is due whenever it comes
  if (live) pacer_.start_at(next_.view().pts_ns, now);
  if (pacer_.due_ns(next_.view().pts_ns) > now + kEarly_ns) return;
  Frame frame = std::exchange(next_, Frame{});
  while (feed.poll(next_) == PollStatus::kFrame && (live || pacer_.due_ns(next_.view().pts_ns) <= now)) {
    feed.recycle(std::exchange(frame, std::exchange(next_, Frame{})));
    ++viewer_.facts.pace.dropped_late;
  }
  pacer_.shown(frame.view().pts_ns, now);
  show(std::move(frame), false);
}

void Window::seek(std::int64_t pts_ns) {
  if (!viewer_.facts.time.seekable) return say("this input can't be sought");
  next_ = Frame{};
  sought_pts_ns_ = pts_ns;
  jobs_.seek(*viewer_.feed(), FeedJobs::SeekKind::kFrom, pts_ns);
  wanted_ = wanted_sought_ = true;
  viewer_.facts.time.ended = false;
}

void Window::step_by(int frames) {
  viewer_.settings.paused = was_paused_ = true;
  pacer_.stop();
  if (frames > 0) {
    if (!viewer_.facts.time.ended) wanted_ = true;
    wanted_sought_ = false;
    return;
  }
  if (!viewer_.facts.time.seekable) return say("this input can't be sought");
  next_ = Frame{};
  jobs_.seek(*viewer_.feed(), FeedJobs::SeekKind::kBefore, viewer_.facts.time.pts_ns);
  wanted_ = wanted_sought_ = true;
  viewer_.facts.time.ended = false;
}

void Window::take_requests() {
  const ViewRequests requests = std::exchange(viewer_.requests, ViewRequests{});
  if (requests.quit) glfwSetWindowShouldClose(window_.get(), GLFW_TRUE);
  if (requests.reset_settings) {
    viewer_.settings.pipeline = initial_.pipeline;
    viewer_.free_gaze();
    viewer_.settings.pipeline = initial_.pipeline;
  }
  if (requests.save_settings && hooks_.save_settings) {
    say(hooks_.save_settings(*requests.save_settings, viewer_.settings));
  }
  if (requests.screenshot && hooks_.save_picture) {
    int width = 0, height = 0;
    glfwGetFramebufferSize(window_.get(), &width, &height);
    glReadBuffer(GL_BACK);
    viewer_.draw(width, height, 1);
    say(hooks_.save_picture(read_picture(width, height), viewer_.facts));
  }
  if (requests.seek_pts_ns) seek(*requests.seek_pts_ns);
  if (requests.seek_by_s) {  // from where the seek before is still on its way to
    seek((jobs_.seeking() ? sought_pts_ns_ : viewer_.facts.time.pts_ns) + std::llround(*requests.seek_by_s * 1e9));
  }
  if (requests.step != 0) step_by(requests.step);
  if (auto dropped = std::exchange(input_.events().dropped, std::nullopt)) open_dropped(*dropped);
}

void Window::apply_settings() {
  const ViewSettings& settings = viewer_.settings;
  if (settings.vsync != vsync_) glfwSwapInterval(settings.vsync ? 1 : 0);
  vsync_ = settings.vsync;
  if (settings.speed != pacer_.speed()) pacer_.set_speed(settings.speed, steady_now_ns());
  input_.set_fullscreen(settings.fullscreen);
}

void Window::expire_message() {
  std::string& message = viewer_.facts.message;
  const std::int64_t now = steady_now_ns();
  if (message != message_) {
    message_ = message;
    message_at_ns_ = now;
    input_.events().redraws = std::max(input_.events().redraws, 1);
  } else if (!message.empty() && now - message_at_ns_ > kMessage_ns) {
    message.clear();
    message_.clear();
    input_.events().redraws = 1;
  }
}

void Window::refresh_facts() {
  ViewFacts& facts = viewer_.facts;
  if (const LiveMeter* live = viewer_.live()) {
    facts.pace.age_p50_ms = live->since_capture().percentile_ms(50);
    facts.pace.age_p95_ms = live->since_capture().percentile_ms(95);
    facts.pace.age_p99_ms = live->since_capture().percentile_ms(99);
    facts.pace.gaps = live->gaps();
  }
  const Feed* feed = this->feed();
  if (feed == nullptr) return;
  facts.pace.queue_depth = feed->depth() + (next_ ? 1 : 0);
  facts.pace.queue_capacity = feed->capacity();
  facts.pace.dropped_queue = feed->queue_counters().dropped_stale;
  facts.time.duration_ns = feed->duration_ns();
}

void Window::draw() {
  int& redraws = input_.events().redraws;
  if (!new_frame_ && redraws == 0) return;
  if (redraws > 0) --redraws;
  if (!new_frame_) viewer_.refresh();
  refresh_facts();
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

// How long nothing happens by itself; below 0: for ever.
double Window::wait_s() {
  if (input_.events().redraws > 0) return 0;
  const double idle = viewer_.facts.message.empty() ? -1 : kIdle_s;
  if (feed() == nullptr) return idle;  // a job wakes the window when it is done
  if (starved_) return kStarved_s;
  if (wanted_) return 0;
  if (playing() && pacer_.running() && next_) {
    const std::int64_t left_ns = pacer_.due_ns(next_.view().pts_ns) - steady_now_ns() - kEarly_ns / 2;
    return std::max(static_cast<double>(left_ns) * 1e-9, 0.0);
  }
  return playing() ? 0 : idle;
}

WindowResult Window::run() {
  const auto stopped = [&] { return hooks_.stopped && hooks_.stopped(); };
  while (glfwWindowShouldClose(window_.get()) == GLFW_FALSE && !stopped()) {
    advance();
    draw();
    take_requests();
    apply_settings();
    expire_message();
    if (glfwWindowShouldClose(window_.get()) != GLFW_FALSE) break;
    const double wait = wait_s();
    if (wait < 0) {
      glfwWaitEvents();
    } else if (wait > 0) {
      glfwWaitEventsTimeout(wait);
    } else {
      glfwPollEvents();
    }
  }
  refresh_facts();
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
