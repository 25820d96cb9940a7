#include "pipeline/run/pacer.h"

#include <cmath>

namespace saccade {

void Pacer::start_at(std::int64_t pts_ns, std::int64_t now_ns) { anchor_ = Anchor{pts_ns, now_ns}; }

void Pacer::set_speed(double speed, std::int64_t now_ns) {
  if (anchor_) {
    const double passed_ns = static_cast<double>(now_ns - anchor_->at_ns) * speed_;
    anchor_ = Anchor{anchor_->pts_ns + std::llround(passed_ns), now_ns};
  }
  speed_ = speed;
}

std::int64_t Pacer::due_ns(std::int64_t pts_ns) const {
  const Anchor anchor = anchor_.value_or(Anchor{pts_ns, 0});
  return anchor.at_ns + std::llround(static_cast<double>(pts_ns - anchor.pts_ns) / speed_);
}

void Pacer::shown(std::int64_t pts_ns, std::int64_t now_ns) {
  if (!anchor_ || now_ns - due_ns(pts_ns) > kForgive_ns) start_at(pts_ns, now_ns);
}

}  // namespace saccade
