// Gaze as it was recorded, at each frame's time: no saccade of ours.
#include <algorithm>
#include <optional>
#include <utility>

#include "pipeline/error.h"
#include "pipeline/gaze/scanpath/scanpath_clock.h"
#include "pipeline/gaze/scanpath/scanpath_policy.h"

namespace saccade {
namespace {

constexpr std::int64_t kLongestStepNs = 75'000'000;  // over a longer one nothing is known of what the eye did

class RawScanpath final : public Scanpath {
 public:
  RawScanpath(RecordedScanpath recorded, double rate_hz) : recorded_(std::move(recorded)), schedule_(rate_hz) {}

  Gaze step(std::int64_t pts_ns, const SceneView& scene) override;
  void reset() override { started_ = false; }
  void look(float u, float v) override { next_look_ = GazePoint{u, v}; }
  void attend(const AttentionMap* map) override {
    if (map != nullptr) refuse();
  }
  void set_source(FixationSource source) override {
    if (source) refuse();
  }
  bool needs_scene() const override { return false; }
  const RecordingFacts* recording() const override { return &recorded_.facts; }

 private:
  [[noreturn]] static void refuse() {
    throw UsageError(OfOption("gaze", name(GazeMode::kRaw)),
                     "followed as it was recorded: nothing else says where to look; set gaze to fixations");
  }
  GazePoint at(std::int64_t elapsed_ns) const;

  RecordedScanpath recorded_;
  RateSchedule schedule_;
  bool started_ = false;
  std::int64_t first_pts_ns_ = 0, last_pts_ns_ = 0;
  std::int64_t period_ = 0;
  std::optional<GazePoint> look_, next_look_;  // of this period, of the next
};

GazePoint RawScanpath::at(std::int64_t elapsed_ns) const {
  const auto& times = recorded_.begins_ns;
  const auto next = std::upper_bound(times.begin(), times.end(), elapsed_ns) - times.begin();
  const auto after = static_cast<std::size_t>(next);
  if (after == 0) return recorded_.points.front();
  const std::size_t before = after - 1;
  const GazePoint from = recorded_.points[before];
  const bool gap = !recorded_.gap_after.empty() && recorded_.gap_after[before] != 0;
  if (after == times.size() || gap || times[after] - times[before] > kLongestStepNs) return from;
  const GazePoint to = recorded_.points[after];
  const auto share = static_cast<float>(static_cast<double>(elapsed_ns - times[before]) /
                                        static_cast<double>(times[after] - times[before]));
  return {.u = from.u + (to.u - from.u) * share, .v = from.v + (to.v - from.v) * share};
}

Gaze RawScanpath::step(std::int64_t pts_ns, const SceneView&) {
  const bool fresh = !started_ || pts_ns < last_pts_ns_;
  if (fresh) first_pts_ns_ = pts_ns;
  started_ = true;
  last_pts_ns_ = pts_ns;
  const std::int64_t elapsed_ns = pts_ns - first_pts_ns_;
  const std::int64_t period = schedule_.due(elapsed_ns).index;
  Gaze gaze;
  gaze.landed = fresh || period > period_;
  if (gaze.landed) look_ = std::exchange(next_look_, std::nullopt);
  period_ = period;
  gaze.fixation = period;
  const GazePoint point = look_.value_or(at(elapsed_ns));
  gaze.u = point.u;
  gaze.v = point.v;
  return gaze;
}

}  // namespace

std::unique_ptr<Scanpath> make_raw_scanpath(RecordedScanpath recorded, double rate_hz) {
  return std::make_unique<RawScanpath>(std::move(recorded), rate_hz);
}

}  // namespace saccade
