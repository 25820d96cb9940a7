// The viewer's keys: one table that the window acts by and that the help lists. mpv's where mpv has one.
#pragma once

#include <cstdint>
#include <span>

namespace saccade::ui {

enum class Action : std::uint8_t {
  kPause,
  kStepForward,
  kStepBack,
  kSeekBack,
  kSeekForward,
  kSeekBackFar,
  kSeekForwardFar,
  kSlower,
  kFaster,
  kNormalSpeed,
  kLoop,
  kFullscreen,
  kQuit,
  kOverlay,
  kScreenshot,
  kHelp,
  kNextView,
  kPreviousView,
  kLevel,
  kMarks,
  kOutlines,
  kScanpath,
  kFilter,
  kVsync,
  kResetZoom,
  kFreeGaze,
};

struct KeyBinding {
  int key;     // GLFW's number
  bool shift;  // wants shift held
  Action action;
  const char* keys;  // as the help writes it; empty: another spelling of the line above
  const char* what;
};

std::span<const KeyBinding> key_bindings();

// What the mouse does, for the help: pairs of gesture and effect.
struct MouseBinding {
  const char* gesture;
  const char* what;
};
std::span<const MouseBinding> mouse_bindings();

}  // namespace saccade::ui
