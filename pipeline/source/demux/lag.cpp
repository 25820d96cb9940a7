#include "pipeline/source/demux/lag.h"

#include <algorithm>
#include <cstdlib>

namespace saccade {
namespace {

constexpr std::int64_t kJump_ns = 60'000'000'000;  // no lag: the stream's clock was set

}  // namespace

bool LagGate::admits(std::optional<std::int64_t> ts_ns, std::int64_t now_ns, bool is_key) {
  if (ts_ns) {
    const std::int64_t behind_ns = now_ns - *ts_ns;
    if (!least_ns_ || std::abs(behind_ns - *least_ns_) > kJump_ns) least_ns_ = behind_ns;
    least_ns_ = std::min(*least_ns_ + (now_ns - std::max(last_now_ns_, now_ns - kJump_ns)) / 1000, behind_ns);
    last_now_ns_ = now_ns;
    lag_ns_ = behind_ns - *least_ns_;
  }
  if (lag_ns_ > kPatience_ns) skipping_ = true;
  if (is_key && lag_ns_ <= kPatience_ns) skipping_ = false;
  return !skipping_;
}

}  // namespace saccade
