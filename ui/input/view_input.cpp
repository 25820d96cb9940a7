#include "ui/input/view_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "ui/tuning/key_bindings.h"
#include "ui/tuning/words.h"

namespace saccade::ui {
namespace {

constexpr float kClickSlack_px = 4;
constexpr float kSeamReach_px = 8;
constexpr double kDoubleClick_s = 0.35;
constexpr double kWheelStep = 1.15;
constexpr double kSpeedStep = 1.1;
constexpr double kMinSpeed = 0.1, kMaxSpeed = 16;

double next_speed(double speed, double factor) {
  const double wanted = std::clamp(speed * factor, kMinSpeed, kMaxSpeed);
  return std::fabs(wanted - 1.0) < 0.02 ? 1.0 : wanted;
}

// The next view that there is of what is shown.
View neighbour(View view, int by, const PipelineConfig& config, bool recorded) {
  do {
    view = static_cast<View>((static_cast<int>(view) + by + kViewCount) % kViewCount);
  } while (!has_view(view, config, recorded));
  return view;
}

// Keys that only change settings. False: it is not one of them.
bool change_setting(Action action, ViewSettings& s, bool recorded) {
  switch (action) {
    case Action::kSlower:
      s.speed = next_speed(s.speed, 1 / kSpeedStep);
      return true;
    case Action::kFaster:
      s.speed = next_speed(s.speed, kSpeedStep);
      return true;
    case Action::kNormalSpeed:
      s.speed = 1;
      return true;
    case Action::kPause:
      s.paused = !s.paused;
      return true;
    case Action::kLoop:
      s.loop = !s.loop;
      return true;
    case Action::kFullscreen:
      s.fullscreen = !s.fullscreen;
      return true;
    case Action::kOverlay:
      s.overlay = !s.overlay;
      return true;
    case Action::kHelp:
      s.help = !s.help;
      return true;
    case Action::kNextView:
      s.view = neighbour(s.view, 1, s.pipeline, recorded);
      return true;
    case Action::kPreviousView:
      s.view = neighbour(s.view, -1, s.pipeline, recorded);
      return true;
    case Action::kMarks:
      s.marks = !s.marks;
      return true;
    case Action::kOutlines:
      s.outlines = !s.outlines;
      return true;
    case Action::kScanpath:
      s.scanpath = !s.scanpath;
      return true;
    case Action::kBoxes:
      s.boxes = !s.boxes && !recorded;
      return true;
    case Action::kFilter:
      s.linear = !s.linear;
      return true;
    case Action::kVsync:
      s.vsync = !s.vsync;
      return true;
    case Action::kResetZoom:
      s.zoom = 1;
      s.pan_x = s.pan_y = 0;
      return true;
    default:
      return false;
  }
}

void raise_request(Action action, ViewRequests& requests) {
  constexpr double kStep_s = 1, kNear_s = 5, kFar_s = 60;
  switch (action) {
    case Action::kStepForward:
      ++requests.step;
      break;
    case Action::kStepBack:
      --requests.step;
      break;
    case Action::kSeekBack:
      requests.seek_by_s = requests.seek_by_s.value_or(0) - kNear_s;
      break;
    case Action::kSeekForward:
      requests.seek_by_s = requests.seek_by_s.value_or(0) + kNear_s;
      break;
    case Action::kSeekBackFar:
      requests.seek_by_s = requests.seek_by_s.value_or(0) - kFar_s;
      break;
    case Action::kSeekForwardFar:
      requests.seek_by_s = requests.seek_by_s.value_or(0) + kFar_s;
      break;
    case Action::kSeekBackNear:
      requests.seek_by_s = requests.seek_by_s.value_or(0) - kStep_s;
      break;
    case Action::kSeekForwardNear:
      requests.seek_by_s = requests.seek_by_s.value_or(0) + kStep_s;
      break;
    case Action::kScreenshot:
      requests.screenshot = true;
      break;
    case Action::kQuit:
      requests.quit = true;
      break;
    default:
      break;
  }
}

bool may_repeat(Action action) {
  switch (action) {
    case Action::kStepForward:
    case Action::kStepBack:
    case Action::kSeekBack:
    case Action::kSeekForward:
    case Action::kSeekBackFar:
    case Action::kSeekForwardFar:
    case Action::kSeekBackNear:
    case Action::kSeekForwardNear:
    case Action::kSlower:
    case Action::kFaster:
      return true;
    default:
      return false;
  }
}

const char* on_off(bool on) { return on ? "on" : "off"; }

// What the key did, in a word or two; empty: it shows by itself.
std::string note_of(Action action, const Viewer& viewer, bool was_at_end) {
  const ViewSettings& s = viewer.settings;
  switch (action) {
    case Action::kPause:
      return was_at_end ? "from the beginning" : s.paused ? "paused" : "playing";
    case Action::kSlower:
    case Action::kFaster:
    case Action::kNormalSpeed:
      return fmt::format("speed {:.2f}x", s.speed);
    case Action::kLoop:
      return fmt::format("loop {}", on_off(s.loop));
    case Action::kOverlay:
      return fmt::format("panels {}", on_off(s.overlay));
    case Action::kNextView:
    case Action::kPreviousView:
    case Action::kLevel:
      return s.view == View::kLevel ? fmt::format("level {}", s.level) : in_words(s.view, viewer.facts.look.recorded);
    case Action::kMarks:
      return fmt::format("fixation and trail {}", on_off(s.marks));
    case Action::kOutlines:
      return fmt::format("outlines of the patches {}", on_off(s.outlines));
    case Action::kScanpath:
      return fmt::format("past fixations {}", on_off(s.scanpath));
    case Action::kBoxes:
      return viewer.facts.look.recorded ? "a dump has no views to choose"
             : s.boxes                  ? fmt::format("boxes of the views for {}", s.views.model)
                                        : "boxes of the views off";
    case Action::kFilter:
      return fmt::format("enlarged {}", s.linear ? "linear" : "nearest");
    case Action::kVsync:
      return viewer.facts.served ? "no vsync in a page: the browser shows a picture when it comes"
                                 : fmt::format("vsync {}", on_off(s.vsync));
    case Action::kResetZoom:
      return "the whole picture";
    case Action::kFreeGaze:
      return viewer.facts.look.recorded ? "a dump's eye can't be led"
                                        : fmt::format("the eye is free: {}", in_words(s.pipeline.scanpath.policy));
    case Action::kFullscreen:
      return s.fullscreen ? "full screen" : "a window";
    case Action::kHelp:
      return s.help ? "list of keys; Esc closes it" : "list of keys closed";
    case Action::kScreenshot:  // says itself what it saved
    case Action::kQuit:
    case Action::kEscape:  // what it closed is gone
      return {};
    default:
      for (const KeyBinding& binding : key_bindings()) {
        if (binding.action == action) return binding.what;
      }
      return {};
  }
}

}  // namespace

void ViewInput::key(Key key, bool shift, bool repeated) {
  if (viewer_.imgui().wants_keyboard()) return;
  const KeyBinding* binding = binding_of(key, shift);
  if (binding == nullptr || (repeated && !may_repeat(binding->action))) return;
  const bool ended = viewer_.facts.time.ended;
  act(binding->action, key);
  std::string note = note_of(binding->action, viewer_, ended);
  if (note.empty()) return;
  viewer_.facts.note = std::move(note);
  ++viewer_.facts.notes;
}

void ViewInput::act(Action action, Key key) {
  switch (action) {
    case Action::kLevel:
      viewer_.settings.view = View::kLevel;
      viewer_.settings.level = static_cast<int>(key - '0');
      return;
    case Action::kFreeGaze:
      return viewer_.free_gaze();
    case Action::kEscape:
      return escape();
    case Action::kSeekStart:
    case Action::kSeekEnd:
      return seek_to(action == Action::kSeekEnd);
    case Action::kVsync:
      if (viewer_.facts.served) return;  // a page has no screen to wait for
      [[fallthrough]];
    default:
      if (!change_setting(action, viewer_.settings, viewer_.facts.look.recorded))
        raise_request(action, viewer_.requests);
  }
}

// Past the end lies the last frame.
void ViewInput::seek_to(bool end) {
  const TimeFacts& time = viewer_.facts.time;
  if (end && time.duration_ns <= 0) {
    viewer_.facts.message = "where this input ends isn't known";
  } else {
    viewer_.requests.seek_pts_ns = time.start_pts_ns + (end ? time.duration_ns : 0);
  }
}

// Closes one thing at a time. In a window with nothing open it quits, and asks first if tuned settings would be lost. A
// page's Escape closes and nothing else: it also leaves the picture.
void ViewInput::escape() {
  ViewFacts& facts = viewer_.facts;
  if (viewer_.imgui().has_list()) {
    viewer_.imgui().close_list();
  } else if (facts.asks_to_quit) {
    facts.asks_to_quit = false;
  } else if (!facts.save_exists.empty()) {
    viewer_.requests.keep_file = true;
  } else if (viewer_.settings.help) {
    viewer_.settings.help = false;
  } else if (facts.served) {
    return;
  } else if (viewer_.settings.fullscreen) {
    viewer_.settings.fullscreen = false;
  } else if (viewer_.has_unsaved_settings()) {
    facts.asks_to_quit = true;
  } else {
    viewer_.requests.quit = true;
  }
}

// Where the picture was drawn last; before that it fills the window.
PixelBox ViewInput::area() const {
  const PixelBox drawn = viewer_.picture_area(last_.x, last_.y);
  return drawn.empty() ? PixelBox{0, 0, static_cast<int>(last_.width), static_cast<int>(last_.height)} : drawn;
}

PictureMapping ViewInput::mapping() const { return map_picture(viewer_.picture_size(), viewer_.settings, area()); }

void ViewInput::press(const Place& at, double now_s) {
  last_ = at;
  again_ = false;
  if (viewer_.imgui().wants_mouse() || !viewer_.has_frame()) return;
  const auto width = static_cast<float>(viewer_.picture_size().width_px);
  const float seam = mapping().to_window_x(viewer_.settings.split * width);
  const bool on_seam = viewer_.settings.view == View::kSplit && std::fabs(seam - last_.x) <= kSeamReach_px;
  drag_ = on_seam ? Drag::kSeam : Drag::kPending;
  again_ =
      now_s - pressed_at_s_ < kDoubleClick_s && std::hypot(last_.x - pressed_.x, last_.y - pressed_.y) < kClickSlack_px;
  pressed_at_s_ = again_ ? -1 : now_s;
  pressed_ = last_;
}

void ViewInput::release(const Place& at) {
  last_ = at;
  const bool clicked = drag_ == Drag::kPending;
  drag_ = Drag::kNone;
  if (!clicked) return;
  if (again_) {  // the first click was none
    viewer_.unfixate();
    viewer_.settings.fullscreen = !viewer_.settings.fullscreen;
    return;
  }
  const PictureSize size = viewer_.picture_size();
  const float u = mapping().to_picture_x(last_.x) / static_cast<float>(size.width_px);
  const float v = mapping().to_picture_y(last_.y) / static_cast<float>(size.height_px);
  if (u >= 0 && u <= 1 && v >= 0 && v <= 1) viewer_.fixate(u, v);
}

void ViewInput::move(const Place& to) {
  const Place before = last_;
  last_ = to;
  if (drag_ == Drag::kPending && std::hypot(last_.x - pressed_.x, last_.y - pressed_.y) > kClickSlack_px) {
    drag_ = Drag::kPan;
  }
  if (drag_ == Drag::kPan) {
    pan_by(viewer_.settings, viewer_.picture_size(), mapping(), last_.x - before.x, last_.y - before.y);
  } else if (drag_ == Drag::kSeam) {
    const auto width = static_cast<float>(viewer_.picture_size().width_px);
    viewer_.settings.split = std::clamp(mapping().to_picture_x(last_.x) / width, 0.0f, 1.0f);
  }
}

void ViewInput::wheel(const Place& at, double dy) {
  if (viewer_.imgui().wants_mouse() || !viewer_.has_frame()) return;
  last_ = at;
  zoom_about(viewer_.settings, viewer_.picture_size(), area(), last_.x, last_.y,
             static_cast<float>(std::pow(kWheelStep, dy)));
}

}  // namespace saccade::ui
