#include "ui/viewer/view_input.h"

#include <algorithm>
#include <cmath>

#include "ui/panel/key_bindings.h"

namespace saccade::ui {
namespace {

constexpr float kClickSlack_px = 4;
constexpr float kSeamReach_px = 8;
constexpr double kWheelStep = 1.15;
constexpr double kSpeedStep = 1.1;
constexpr double kMinSpeed = 0.1, kMaxSpeed = 16;

double next_speed(double speed, double factor) {
  const double wanted = std::clamp(speed * factor, kMinSpeed, kMaxSpeed);
  return std::fabs(wanted - 1.0) < 0.02 ? 1.0 : wanted;
}

View neighbour(View view, int by) { return static_cast<View>((static_cast<int>(view) + by + kViewCount) % kViewCount); }

// Keys that only change settings. False: it is not one of them.
bool change_setting(Action action, ViewSettings& s) {
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
      s.view = neighbour(s.view, 1);
      return true;
    case Action::kPreviousView:
      s.view = neighbour(s.view, -1);
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
  constexpr double kNear_s = 5, kFar_s = 60;
  switch (action) {
    case Action::kStepForward:
      requests.step = 1;
      break;
    case Action::kStepBack:
      requests.step = -1;
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
      return true;
    default:
      return false;
  }
}

}  // namespace

void ViewInput::key(Key key, bool shift, bool repeated) {
  if (viewer_.imgui().wants_keyboard()) return;
  const KeyBinding* binding = binding_of(key, shift);
  if (binding == nullptr || (repeated && !may_repeat(binding->action))) return;
  if (binding->action == Action::kLevel) {
    viewer_.settings.view = View::kLevel;
    viewer_.settings.level = static_cast<int>(key - '0');
  } else if (binding->action == Action::kFreeGaze) {
    viewer_.free_gaze();
  } else if (binding->action == Action::kEscape) {
    escape();
  } else if (!change_setting(binding->action, viewer_.settings)) {
    raise_request(binding->action, viewer_.requests);
  }
}

void ViewInput::escape() {
  if (!viewer_.facts.save_exists.empty()) {
    viewer_.requests.keep_file = true;
  } else if (viewer_.settings.fullscreen) {
    viewer_.settings.fullscreen = false;
  } else {
    viewer_.requests.quit = true;
  }
}

PictureMapping ViewInput::mapping() const {
  return map_picture(viewer_.picture_size(), viewer_.settings, static_cast<int>(last_.width),
                     static_cast<int>(last_.height));
}

void ViewInput::press(const Place& at) {
  last_ = at;
  if (viewer_.imgui().wants_mouse() || !viewer_.has_frame()) return;
  const auto width = static_cast<float>(viewer_.picture_size().width_px);
  const float seam = mapping().to_window_x(viewer_.settings.split * width);
  const bool on_seam = viewer_.settings.view == View::kSplit && std::fabs(seam - last_.x) <= kSeamReach_px;
  drag_ = on_seam ? Drag::kSeam : Drag::kPending;
  pressed_ = last_;
}

void ViewInput::release(const Place& at) {
  last_ = at;
  const bool clicked = drag_ == Drag::kPending;
  drag_ = Drag::kNone;
  if (!clicked) return;
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
  zoom_about(viewer_.settings, viewer_.picture_size(), static_cast<int>(last_.width), static_cast<int>(last_.height),
             last_.x, last_.y, static_cast<float>(std::pow(kWheelStep, dy)));
}

}  // namespace saccade::ui
