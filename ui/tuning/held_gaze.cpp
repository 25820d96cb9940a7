#include "ui/tuning/held_gaze.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace saccade::ui {

void HeldGaze::hold(ScanpathConfig& scanpath, float u, float v) {
  before_ = {scanpath, held_};
  if (!held_) free_ = scanpath;
  held_ = true;
  scanpath.policy = FixationPolicy::kCenter;
  scanpath.argument = fmt::format("{:.4f},{:.4f}", std::clamp(u, 0.0f, 1.0f), std::clamp(v, 0.0f, 1.0f));
}

void HeldGaze::undo_hold(ScanpathConfig& scanpath) {
  if (!before_) return;
  scanpath = before_->scanpath;
  held_ = before_->held;
  before_.reset();
}

void HeldGaze::let_go(ScanpathConfig& scanpath) {
  const bool stands = scanpath.policy == FixationPolicy::kCenter;
  const bool back = held_ && free_.policy != FixationPolicy::kCenter;
  held_ = false;
  if (!stands) return;
  scanpath.policy = back ? free_.policy : ScanpathConfig{}.policy;
  scanpath.argument = back ? free_.argument : std::string();
}

ScanpathConfig HeldGaze::without_hold(const ScanpathConfig& scanpath) const {
  ScanpathConfig config = scanpath;
  if (!held_ || scanpath.policy != FixationPolicy::kCenter) return config;
  config.policy = free_.policy;
  config.argument = free_.argument;
  return config;
}

}  // namespace saccade::ui
