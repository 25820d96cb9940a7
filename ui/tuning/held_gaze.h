// A click holds the eye at a place until it is let go; then it goes on as before.
#pragma once

#include <optional>

#include "pipeline/gaze/scanpath/scanpath.h"

namespace saccade::ui {

// Changes the settings that it is given. Pure.
class HeldGaze {
 public:
  explicit HeldGaze(const ScanpathConfig& initial) : free_(initial) {}

  void hold(ScanpathConfig& scanpath, float u, float v);  // 0..1 of the frame
  void undo_hold(ScanpathConfig& scanpath);               // the last hold() was a mistake
  // Held by a click or by the settings it began with, the eye moves again. A policy that moves was chosen meanwhile
  // otherwise, and stays.
  void let_go(ScanpathConfig& scanpath);
  void forget() { held_ = false; }  // the settings were reset
  // As it was before the click, where one holds the eye.
  ScanpathConfig without_hold(const ScanpathConfig& scanpath) const;

 private:
  struct Before {
    ScanpathConfig scanpath;
    bool held;
  };
  ScanpathConfig free_;  // before a click
  bool held_ = false;
  std::optional<Before> before_;  // the last hold()
};

}  // namespace saccade::ui
