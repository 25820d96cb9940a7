#include "ui/web/web_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "pipeline/backend/gl_log.h"
#include "pipeline/clock.h"
#include "pipeline/error.h"
#include "ui/input/imgui_input.h"
#include "ui/input/panel_input.h"
#include "ui/viewer/job.h"
#include "ui/viewer/playback.h"
#include "ui/web/server/web_server.h"
#include "ui/web/web_pictures.h"
#include "ui/web/web_state.h"

namespace saccade::ui {
namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kSettle_ns = 80 * kMs;      // after an input the panel is drawn once more
constexpr std::int64_t kState_ns = 200 * kMs;      // how often the state is told while it only ticks
constexpr std::int64_t kPatience_ns = 1000 * kMs;  // an input that takes longer is announced before it can be seen
constexpr double kLeastWait_s = 0.001;

gl::Context make_context(const Log& log) {
  try {
    return gl::Context::offscreen(logging_context_config(log));
  } catch (const gl::GlError& error) {
    throw_fault(fault_of(error), "view");
  }
}

class WebView {
 public:
  WebView(const WebViewConfig& config, const WebHooks& hooks);
  WebViewResult run();
  void play();  // until it is stopped

 private:
  void announce();
  void take_inputs();
  void apply(const Input& input);
  void set(const SetInput& change);
  void answer(const AskInput& ask);
  void send_settings(const std::string& path);
  void take_screenshot();
  void send_screenshot();
  void keep_to_given_files();
  void take_requests();
  void draw();
  void tell_state();
  double wait_s();
  void due(std::int64_t at_ns) { next_ns_ = std::min(next_ns_, at_ns); }

  const WebHooks& hooks_;
  const WebViewConfig& config_;
  const Access access_;
  WebServer server_;
  gl::Context context_;
  Viewer viewer_;
  Playback playback_;
  std::string clipboard_, copied_;  // all that the panel copied, and what no page was given yet
  PanelInput input_;
  WebPictures pictures_;
  const ScanpathConfig given_scanpath_;
  ScanpathConfig allowed_scanpath_;

  bool announced_ = false, new_frame_ = false, redraw_ = true;
  bool told_fullscreen_ = false;
  std::int64_t begun_ns_ = steady_now_ns();
  std::int64_t settle_at_ns_ = 0;  // 0: the panel has settled
  std::int64_t state_at_ns_ = 0;
  std::int64_t next_ns_ = 0;  // when something is due that no event tells of
  std::uint32_t applied_ = 0, driver_ = 0;
  Audience audience_;
  std::string state_;

  // One is made at a time; those that are wanted meanwhile are one.
  struct Screenshot {
    std::string name;
    std::uint32_t driver = 0;  // who wanted it
    Job<std::string> png;
  } screenshot_;
  bool wants_screenshot_ = false;
};

WebView::WebView(const WebViewConfig& config, const WebHooks& hooks)
    : hooks_(hooks),
      config_(config),
      access_(config.token.empty() ? random_token() : config.token, config.origins),
      server_({config.address, access_, config.source.log}, [alarm = config.alarm] { alarm->ring(); }),
      context_(make_context(config.source.log)),
      viewer_(context_, config.settings, Surface::kPage, config.source.log),
      playback_(viewer_, {.source = config.source, .queue_policy = config.queue_policy, .open = config.open},
                [alarm = config.alarm] { alarm->ring(); }),
      input_(viewer_, [this] { keep_to_given_files(); }),
      pictures_(context_, server_, *config.alarm, config.source.log),
      given_scanpath_(config.settings.pipeline.scanpath),
      allowed_scanpath_(given_scanpath_) {
  input_.set_size({config.width_px, config.height_px, config.ui_scale});
  set_imgui_clipboard(
      {[this] { return clipboard_; }, [this](const std::string& text) { clipboard_ = copied_ = text; }});
  playback_.open();
}

// An input that can't be opened is told before anybody is asked to look.
void WebView::announce() {
  if (announced_ || (!viewer_.has_frame() && steady_now_ns() - begun_ns_ < kPatience_ns)) return;
  announced_ = true;
  if (hooks_.listening) {
    hooks_.listening({server_.authority(), server_.port(), access_.control_token(), access_.watch_token()});
  }
}

// A page must not read files of this machine: the gaze comes from the file that was given at the start, or from none.
void WebView::keep_to_given_files() {
  ScanpathConfig& scanpath = viewer_.settings.pipeline.scanpath;
  const bool given = given_scanpath_.policy == FixationPolicy::kFile && scanpath.argument == given_scanpath_.argument;
  if (scanpath.policy != FixationPolicy::kFile || given) {
    allowed_scanpath_ = scanpath;
    return;
  }
  scanpath = allowed_scanpath_;
  viewer_.facts.message = "a page may not name files of the server; start it with the gaze file";
  redraw_ = true;
}

void WebView::take_inputs() {
  if (audience_.driver != driver_) {
    driver_ = audience_.driver;
    applied_ = 0;
    input_.release_all();
  }
  std::vector<InputMessage> inputs = server_.take_inputs();
  if (inputs.empty()) return;
  for (const InputMessage& message : inputs) {
    apply(message.input);
    applied_ = message.number;
  }
  input_.settle();
  redraw_ = true;
  settle_at_ns_ = steady_now_ns() + kSettle_ns;
}

void WebView::apply(const Input& input) {
  struct Visitor {
    WebView& view;
    void operator()(const ResizeInput& size) const {
      view.input_.set_size({size.width_px, size.height_px, size.ratio * view.config_.ui_scale});
    }
    void operator()(const SeekInput& seek) const {
      const TimeFacts& time = view.viewer_.facts.time;
      constexpr double kLongest_s = 1e9;
      auto t_ns = static_cast<std::int64_t>(std::min(seek.t_s, kLongest_s) * 1e9);
      if (time.duration_ns > 0) t_ns = std::min(t_ns, time.duration_ns);  // beyond the end: the last frame
      view.viewer_.requests.seek_pts_ns = time.start_pts_ns + t_ns;
    }
    void operator()(const StepInput& step) const { view.viewer_.requests.step = step.frames; }
    void operator()(const SetInput& change) const { view.set(change); }
    void operator()(const AskInput& ask) const { view.answer(ask); }
    void operator()(const MoveInput& input) const { view.input_.apply(input); }
    void operator()(const ButtonInput& input) const { view.input_.apply(input); }
    void operator()(const WheelInput& input) const { view.input_.apply(input); }
    void operator()(const KeyInput& input) const { view.input_.apply(input); }
    void operator()(const PasteInput& input) const { view.input_.apply(input); }
  };
  std::visit(Visitor{*this}, input);
  take_requests();
}

void WebView::set(const SetInput& change) {
  ViewSettings& settings = viewer_.settings;
  switch (change.what) {
    case SetInput::What::kView:
      if (has_view(change.view, settings.pipeline, viewer_.facts.look.recorded)) settings.view = change.view;
      break;
    case SetInput::What::kLevel:
      settings.level = static_cast<int>(change.number);
      break;
    case SetInput::What::kSpeed:
      settings.speed = change.number;
      break;
    case SetInput::What::kPaused:
      settings.paused = change.number != 0;
      break;
    case SetInput::What::kLoop:
      settings.loop = change.number != 0;
      break;
    case SetInput::What::kPanel:
      settings.overlay = change.number != 0;
      break;
    case SetInput::What::kQuality:
      server_.fix_quality(change.number < 0 ? std::nullopt : std::optional(static_cast<int>(change.number)));
      pictures_.force();
      break;
  }
}

void WebView::answer(const AskInput& ask) {
  switch (ask.what) {
    case AskInput::What::kSettings:
      return send_settings("saccade.toml");
    case AskInput::What::kScreenshot:
      wants_screenshot_ = true;
      return;
    case AskInput::What::kLine:
      if (hooks_.command_line) {
        server_.tell_driver(page_clipboard("the command line", hooks_.command_line(viewer_.settings)));
      }
  }
}

// path: as the panel has it; only the file's name counts.
void WebView::send_settings(const std::string& path) {
  if (!hooks_.settings_file) return;
  const std::string name = path.substr(path.find_last_of('/') + 1);
  server_.send_driver({name.empty() ? "saccade.toml" : name, hooks_.settings_file(viewer_.settings)});
  viewer_.facts.message = "the settings are downloaded; saccade dump reads them";
}

// Drawn here, made a file on a thread of its own: the pages go on.
void WebView::take_screenshot() {
  if (!wants_screenshot_ || screenshot_.png.pending() || !viewer_.has_frame() || !hooks_.picture_file) return;
  wants_screenshot_ = false;
  const ViewSize& size = input_.size();
  const auto ms = (viewer_.facts.time.pts_ns - viewer_.facts.time.start_pts_ns + kMs / 2) / kMs;
  screenshot_.name =
      fmt::format("saccade-{:02}.{:02}.{:02}.{:03}.png", ms / 3'600'000, ms / 60'000 % 60, ms / 1000 % 60, ms % 1000);
  viewer_.facts.message.clear();  // of the last download, say
  viewer_.facts.note.clear();
  screenshot_.driver = driver_;
  screenshot_.png =
      Job<std::string>([make = hooks_.picture_file,
                        picture = viewer_.picture(size.width_px, size.height_px, size.scale)] { return make(picture); },
                       [alarm = config_.alarm] { alarm->ring(); });
  keep_to_given_files();
}

void WebView::send_screenshot() {
  if (!screenshot_.png.ready()) return;
  try {
    std::string png = screenshot_.png.take();
    if (screenshot_.driver != audience_.driver) return;
    server_.send_driver({screenshot_.name, std::move(png)});
    viewer_.facts.message = "downloaded " + screenshot_.name;
  } catch (const Error& error) {
    viewer_.facts.message = one_line(error.fault());
  }
}

// What the panel and the keys ask for. Files go to the page, and the page can't end the program.
void WebView::take_requests() {
  const ViewRequests requests = std::exchange(viewer_.requests, ViewRequests{});
  if (requests.quit) viewer_.facts.message = "a page doesn't end the viewer; stop the program where it runs";
  if (requests.save_settings) send_settings(*requests.save_settings);
  wants_screenshot_ |= requests.screenshot;
  playback_.take(requests);
  if (viewer_.settings.fullscreen) told_fullscreen_ = true;
  viewer_.settings.fullscreen = false;
}

void WebView::draw() {
  const std::int64_t now_ns = steady_now_ns();
  if (playback_.take_redraw()) redraw_ = true;
  if (server_.take_newcomers()) {
    pictures_.force();
    redraw_ = true;
  }
  if (settle_at_ns_ != 0 && now_ns >= settle_at_ns_) {
    settle_at_ns_ = 0;
    redraw_ = true;
  }
  if (settle_at_ns_ != 0) due(settle_at_ns_);
  audience_ = server_.audience(pictures_.coming());
  if ((!new_frame_ && !redraw_) || !audience_.ready) return;
  if (!new_frame_) viewer_.refresh();
  playback_.refresh_facts();
  const ViewSize& size = input_.size();
  pictures_.bind(size.width_px, size.height_px);
  viewer_.draw(size.width_px, size.height_px, size.scale);
  keep_to_given_files();
  redraw_ = false;
  if (pictures_.send(applied_, viewer_.facts.time.pts_ns)) ++viewer_.facts.pictures_drawn;
  if (hooks_.report) hooks_.report(new_frame_ ? "frame" : "draw", viewer_);
  new_frame_ = false;
}

void WebView::tell_state() {
  const std::int64_t now_ns = steady_now_ns();
  if (audience_.clients == 0) return;
  const ViewSize& size = input_.size();
  if (!copied_.empty()) server_.tell_driver(page_clipboard("the text", std::exchange(copied_, {})));
  const bool soon = now_ns - state_at_ns_ < kState_ns;
  if (soon && !told_fullscreen_) {
    if (!viewer_.settings.paused || redraw_) return due(state_at_ns_ + kState_ns);
  }
  std::string state =
      page_state(viewer_.settings, viewer_.facts,
                 {size.width_px, size.height_px, applied_, server_.rung(), server_.quality_is_fixed(), imgui_cursor(),
                  viewer_.imgui().wants_keyboard(), viewer_.imgui().has_list() || viewer_.settings.help,
                  std::exchange(told_fullscreen_, false)});
  if (state == state_) return;
  state_at_ns_ = now_ns;
  state_ = state;
  server_.publish_state(std::move(state));
}

double WebView::wait_s() {
  double wait = playback_.wait_s();
  if (next_ns_ != INT64_MAX) {
    const double left = std::max(static_cast<double>(next_ns_ - steady_now_ns()) * 1e-9, 0.0);
    wait = wait < 0 ? left : std::min(wait, left);
  }
  return wait < 0 ? wait : std::max(wait, kLeastWait_s);
}

WebViewResult WebView::run() {
  try {
    play();
  } catch (const Error& error) {
    server_.set_farewell(error.what());
    throw;
  }
  server_.set_farewell(viewer_.facts.error);
  return {viewer_.facts.error, viewer_.facts.damage};
}

void WebView::play() {
  const auto stopped = [&] { return hooks_.stopped && hooks_.stopped(); };
  while (!stopped()) {
    next_ns_ = announced_ ? INT64_MAX : begun_ns_ + kPatience_ns;
    audience_ = server_.audience(pictures_.coming());
    playback_.hold(audience_.watching == 0);
    take_inputs();
    new_frame_ |= playback_.advance();
    announce();
    draw();
    take_requests();
    send_screenshot();
    take_screenshot();
    playback_.apply_settings();
    playback_.expire_texts();
    if (!new_frame_ && !redraw_ && audience_.watching > 0) {
      if (const std::int64_t at_ns = pictures_.sharpen(steady_now_ns()); at_ns != 0) due(at_ns);
    }
    tell_state();
    if (audience_.watching > 0 && !viewer_.settings.paused) due(steady_now_ns() + 1000 * kMs);  // one may stall
    config_.alarm->wait(wait_s());
  }
  playback_.finish();
  if (hooks_.report) hooks_.report("end", viewer_);
}

}  // namespace

WebViewResult run_web_view(const WebViewConfig& config, const WebHooks& hooks) { return WebView(config, hooks).run(); }

}  // namespace saccade::ui
