#include "pipeline/gaze/scanpath/scanpath.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "kernels/shared/oculomotor.h"
#include "pipeline/error.h"
#include "pipeline/gaze/scanpath/attention.h"
#include "pipeline/gaze/scanpath/scanpath_clock.h"
#include "pipeline/gaze/scanpath/scanpath_policy.h"

namespace saccade {
namespace {

constexpr double kNsPerS = 1e9;

// One schedule, one set of targets, and the saccade between the last two of them.
class TimedScanpath final : public Scanpath {
 public:
  TimedScanpath(std::unique_ptr<FixationSchedule> schedule, std::unique_ptr<FixationTargets> targets, double fov_deg,
                const FrameGeometry& geometry, std::optional<RecordingFacts> recording = {})
      : schedule_(std::move(schedule)),
        targets_(std::move(targets)),
        attention_(fov_deg, geometry),
        recording_(std::move(recording)),
        deg_per_u_(fov_deg),
        deg_per_v_(fov_deg * geometry.height_px / (geometry.width_px * geometry.sar)) {}

  Gaze step(std::int64_t pts_ns, const SceneView& scene) override;
  void reset() override { started_ = false; }
  void look(float u, float v) override { look_ = GazePoint{u, v}; }
  void attend(const AttentionMap* map) override { attention_.attend(map); }
  void set_source(FixationSource source) override { source_ = std::move(source); }
  const RecordingFacts* recording() const override { return recording_ ? &*recording_ : nullptr; }
  bool needs_scene() const override { return !attention_.active() && targets_->needs_scene(); }

 private:
  void start(std::int64_t pts_ns, const SceneView& scene);
  void depart(const DueFixation& due, const SceneView& scene);
  std::int64_t flight_ns(const DueFixation& due) const;
  GazePoint choose(const FixationRequest& request, const SceneView& scene);

  std::unique_ptr<FixationSchedule> schedule_;
  std::unique_ptr<FixationTargets> targets_;
  AttentionTargets attention_;
  FixationSource source_;
  std::optional<RecordingFacts> recording_;
  double deg_per_u_;
  double deg_per_v_;

  bool started_ = false;
  std::int64_t first_pts_ns_ = 0;
  std::int64_t last_pts_ns_ = 0;
  std::int64_t index_ = 0;
  GazePoint from_, to_;
  std::optional<GazePoint> look_;  // where the caller wants the next fixation
  std::int64_t departs_ns_ = 0;    // of the latest saccade, since the first frame
  std::int64_t lands_ns_ = 0;
  bool landing_pending_ = false;
};

// Who looks, or a source that answers, changes nothing of what map and policy remember. The policy is asked in any
// case, but where a map or a source stands in for it.
GazePoint TimedScanpath::choose(const FixationRequest& request, const SceneView& scene) {
  if (source_) {
    if (const auto answer = source_(request, scene)) {
      if (!(answer->u >= 0 && answer->u <= 1 && answer->v >= 0 && answer->v <= 1)) {
        throw UsageError(fmt::format("fixation {},{}: a place is 0 to 1 of the displayed frame", answer->u, answer->v));
      }
      return std::exchange(look_, std::nullopt).value_or(*answer);
    }
  }
  const GazePoint chosen = attention_.active() ? attention_.choose(request) : targets_->choose(request, scene);
  return std::exchange(look_, std::nullopt).value_or(chosen);
}

void TimedScanpath::start(std::int64_t pts_ns, const SceneView& scene) {
  started_ = false;  // asked again at the next frame, should choose() throw
  targets_->reset();
  attention_.reset();
  first_pts_ns_ = pts_ns;
  targets_->observe(0, scene);
  const DueFixation due = schedule_->due(0);
  to_ = choose({.index = due.index, .elapsed_ns = 0, .from = {}, .first = true}, scene);
  index_ = due.index;
  from_ = to_;
  departs_ns_ = lands_ns_ = 0;
  landing_pending_ = true;
  started_ = true;
}

// Main sequence, capped at half a period so that a landing always precedes the next departure.
std::int64_t TimedScanpath::flight_ns(const DueFixation& due) const {
  const double du_deg = (static_cast<double>(to_.u) - static_cast<double>(from_.u)) * deg_per_u_;
  const double dv_deg = (static_cast<double>(to_.v) - static_cast<double>(from_.v)) * deg_per_v_;
  const auto amplitude_deg = static_cast<float>(std::sqrt(du_deg * du_deg + dv_deg * dv_deg));
  const std::int64_t flight = std::llround(static_cast<double>(shared::saccade_duration_s(amplitude_deg)) * kNsPerS);
  return due.period_ns > 0 ? std::min(flight, due.period_ns / 2) : flight;
}

void TimedScanpath::depart(const DueFixation& due, const SceneView& scene) {
  const GazePoint next = choose({.index = due.index, .elapsed_ns = due.departs_ns, .from = to_, .first = false}, scene);
  from_ = std::exchange(to_, next);
  index_ = due.index;
  departs_ns_ = due.departs_ns;
  lands_ns_ = due.departs_ns + flight_ns(due);
  landing_pending_ = true;
}

Gaze TimedScanpath::step(std::int64_t pts_ns, const SceneView& scene) {
  bool landed_before_departure = false;
  const std::int64_t landed_fixation = index_;
  if (!started_ || pts_ns < last_pts_ns_) {
    start(pts_ns, scene);
  } else {
    const std::int64_t elapsed_ns = pts_ns - first_pts_ns_;
    targets_->observe(elapsed_ns, scene);
    const DueFixation due = schedule_->due(elapsed_ns);
    if (due.index > index_) {
      landed_before_departure = landing_pending_;  // it landed between two frames; this one shows it first
      depart(due, scene);
    }
  }
  last_pts_ns_ = pts_ns;

  const std::int64_t elapsed_ns = pts_ns - first_pts_ns_;
  Gaze gaze;
  gaze.fixation = index_;
  gaze.in_flight = elapsed_ns < lands_ns_;
  gaze.landed = landed_before_departure || (landing_pending_ && !gaze.in_flight);
  if (gaze.in_flight && landed_before_departure) {  // still shown where it landed; the flight shows from the next frame
    gaze.in_flight = false;
    gaze.fixation = landed_fixation;
    gaze.u = from_.u;
    gaze.v = from_.v;
    return gaze;
  }
  if (!gaze.in_flight) {
    landing_pending_ = false;
    gaze.u = to_.u;
    gaze.v = to_.v;
    return gaze;
  }
  const auto progress =
      static_cast<float>(static_cast<double>(elapsed_ns - departs_ns_) / static_cast<double>(lands_ns_ - departs_ns_));
  const float share = shared::minimum_jerk(progress);
  gaze.u = from_.u + (to_.u - from_.u) * share;
  gaze.v = from_.v + (to_.v - from_.v) * share;
  return gaze;
}

std::unique_ptr<FixationTargets> make_targets(const ScanpathConfig& config, const FrameGeometry& geometry) {
  switch (config.policy) {
    case FixationPolicy::kCenter:
      return make_center_targets(config.argument);
    case FixationPolicy::kRandom:
      return make_random_targets(config.seed);
    case FixationPolicy::kRaster:
      return make_raster_targets(config.argument);
    case FixationPolicy::kNovelty:
      return make_novelty_targets(config.seed, config.fov_deg, config.ignore, geometry);
    case FixationPolicy::kSaliency:
    case FixationPolicy::kFile:
      break;
  }
  return make_saliency_targets(config.seed, config.fov_deg, config.ignore, geometry);
}

// Faults of the file begin with its name.
RecordedScanpath read_file(const ScanpathConfig& config, const FrameGeometry& geometry) {
  const bool raw = config.gaze == GazeMode::kRaw;
  try {
    return read_recording(config.argument, {config.gaze_units, raw, geometry.width_px, geometry.height_px});
  } catch (const Error& error) {
    if (!error.option().empty()) throw;
    throw_fault(of_option(error.fault(), "fixation", fmt::format("{}:", name(FixationPolicy::kFile))));
  }
}

}  // namespace

std::unique_ptr<Scanpath> make_scanpath(const ScanpathConfig& config, const FrameGeometry& geometry) {
  if (!(config.rate_hz >= RateSchedule::kMinHz && config.rate_hz <= RateSchedule::kMaxHz)) {
    throw UsageError(
        OfOption("rate", fmt::to_string(config.rate_hz)),
        fmt::format("the range is {} to {} fixations per second", RateSchedule::kMinHz, RateSchedule::kMaxHz));
  }
  if (!(config.fov_deg > 0 && config.fov_deg <= 180)) {
    throw UsageError(OfOption("fov-deg", fmt::to_string(config.fov_deg)), "the range is above 0, up to 180");
  }
  FrameGeometry sane = geometry;
  if (!(std::isfinite(sane.sar) && sane.sar > 0)) sane.sar = 1.0;
  if (config.policy == FixationPolicy::kFile) {
    const bool raw = config.gaze == GazeMode::kRaw;
    RecordedScanpath recorded = config.recorded ? *config.recorded : read_file(config, sane);
    if (raw) return make_raw_scanpath(std::move(recorded), config.rate_hz);
    return std::make_unique<TimedScanpath>(std::make_unique<ListSchedule>(std::move(recorded.begins_ns)),
                                           make_recorded_targets(std::move(recorded.points)), config.fov_deg, sane,
                                           std::move(recorded.facts));
  }
  return std::make_unique<TimedScanpath>(std::make_unique<RateSchedule>(config.rate_hz), make_targets(config, sane),
                                         config.fov_deg, sane);
}

}  // namespace saccade
