#include "ui/viewer/frame_numbers.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace saccade::ui {
namespace {

constexpr std::size_t kMostTimes = std::size_t{1} << 22;  // 32 MiB; 46 hours of 25 frames a second

}  // namespace

void FrameNumbers::begin(std::int64_t start_pts_ns, double fps) {
  times_ns_.assign(1, start_pts_ns);
  last_ns_ = start_pts_ns;
  fps_ = fps;
}

void FrameNumbers::note(std::int64_t pts_ns, bool follows) {
  if (times_ns_.empty()) return;
  const bool extends = follows && last_ns_ == times_ns_.back() && pts_ns > last_ns_;
  if (extends && times_ns_.size() < kMostTimes) times_ns_.push_back(pts_ns);
  last_ns_ = pts_ns;
}

std::int64_t FrameNumbers::number(std::int64_t pts_ns) const {
  if (times_ns_.empty()) return 0;
  const std::int64_t beyond_ns = pts_ns - times_ns_.back();
  if (beyond_ns <= 0) return std::lower_bound(times_ns_.begin(), times_ns_.end(), pts_ns) - times_ns_.begin();
  const auto last = static_cast<std::int64_t>(times_ns_.size()) - 1;
  return last + std::max<std::int64_t>(std::llround(static_cast<double>(beyond_ns) * 1e-9 * fps_), 1);
}

}  // namespace saccade::ui
