// The policy that looks: the most salient tile, given where the eye has just been.
#include <algorithm>
#include <cmath>

#include "pipeline/gaze/fixation_memory.h"
#include "pipeline/gaze/saliency.h"
#include "pipeline/gaze/scanpath/scanpath_policy.h"

namespace saccade {
namespace {

constexpr CellAxis kTiles;  // from the frame's corner

constexpr float kMotionWeight = 2.0f;
constexpr float kContrastWeight = 1.0f;
constexpr float kRestWeight = 0.02f;  // lets the eye roam over a picture without features

constexpr float kMomentum = 0.25f;       // gain for going on in the same direction
constexpr double kSaccadeSigmaDeg = 12;  // long saccades are rarer
constexpr float kSaccadePrior = 0.4f;
constexpr double kCenterSigma = 0.35;  // of the frame's width and height
constexpr float kCenterPrior = 0.2f;

// splitmix64's finaliser (Steele, Lea and Flood 2014).
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

class SaliencyTargets final : public FixationTargets {
 public:
  SaliencyTargets(std::uint64_t seed, double fov_deg, const IgnoreRegions& ignore, const FrameGeometry& geometry,
                  TileGrid grid)
      : seed_(seed),
        geometry_(geometry),
        grid_(grid),
        deg_per_px_x_(fov_deg / geometry.width_px),
        deg_per_px_y_(fov_deg / (geometry.width_px * geometry.sar)),
        ignored_(ignored_tiles(ignore, grid, geometry)),
        motion_(grid, ignored_),
        contrast_(grid, geometry, ignored_),
        score_(static_cast<std::size_t>(grid.count())),
        scratch_(score_.size()),
        memory_(fov_deg, geometry) {
    for (AxisGaussians* axes : {&center_, &around_}) {
      axes->resize(static_cast<std::size_t>(grid.cols), static_cast<std::size_t>(grid.rows));
    }
    gaussian(kTiles, 0.5 * geometry.width_px, kCenterSigma * geometry.width_px, center_.x);
    gaussian(kTiles, 0.5 * geometry.height_px, kCenterSigma * geometry.height_px, center_.y);
  }

  void observe(std::int64_t elapsed_ns, const SceneView& scene) override {
    if (scene.damage != nullptr) motion_.note(elapsed_ns, *scene.damage);
  }
  GazePoint choose(const FixationRequest& request, const SceneView& scene) override;
  bool needs_scene() const override { return true; }
  void reset() override {
    motion_.reset();
    memory_.forget();
  }

 private:
  void apply_center_prior();
  void apply_saccade_priors();
  int best_tile(std::int64_t index) const;

  std::uint64_t seed_;
  FrameGeometry geometry_;
  TileGrid grid_;
  double deg_per_px_x_, deg_per_px_y_;
  std::vector<std::uint8_t> ignored_;  // of each tile; empty: none
  MotionTrace motion_;
  CenterSurround contrast_;
  std::vector<float> score_, scratch_;
  AxisGaussians center_, around_;
  FixationMemory memory_;
};

void SaliencyTargets::apply_center_prior() {
  std::size_t tile = 0;
  for (const float gy : center_.y) {
    for (const float gx : center_.x) score_[tile++] *= 1 - kCenterPrior + kCenterPrior * gx * gy;
  }
}

// Preference for near targets, and for those ahead in the direction of the last saccade.
void SaliencyTargets::apply_saccade_priors() {
  if (memory_.count() == 0) return;
  const FixationMemory::Place& here = memory_.past(0);
  gaussian(kTiles, here.x_px, kSaccadeSigmaDeg / deg_per_px_x_, around_.x);
  gaussian(kTiles, here.y_px, kSaccadeSigmaDeg / deg_per_px_y_, around_.y);
  double ahead_x = 0, ahead_y = 0;
  if (memory_.count() > 1) {
    ahead_x = here.x_px - memory_.past(1).x_px;
    ahead_y = here.y_px - memory_.past(1).y_px;
    const double length = std::sqrt(ahead_x * ahead_x + ahead_y * ahead_y);
    if (length > 0) {
      ahead_x /= length;
      ahead_y /= length;
    }
  }
  std::size_t tile = 0;
  for (std::size_t ty = 0; ty < around_.y.size(); ++ty) {
    const auto dy = static_cast<float>((static_cast<double>(ty) + 0.5) * kTilePx - here.y_px);
    for (std::size_t tx = 0; tx < around_.x.size(); ++tx, ++tile) {
      const auto dx = static_cast<float>((static_cast<double>(tx) + 0.5) * kTilePx - here.x_px);
      const float distance = std::sqrt(dx * dx + dy * dy);
      const float along = static_cast<float>(ahead_x) * dx + static_cast<float>(ahead_y) * dy;
      const float cosine = distance > 0 ? along / distance : 0.0f;
      score_[tile] *= (1 - kSaccadePrior + kSaccadePrior * around_.x[tx] * around_.y[ty]) * (1 + kMomentum * cosine);
    }
  }
}

// The highest score; among equals, the tile that the seed and the fixation's number favour.
int SaliencyTargets::best_tile(std::int64_t index) const {
  const std::uint64_t salt = mixed(seed_ ^ mixed(static_cast<std::uint64_t>(index)));
  std::size_t best = 0;
  for (std::size_t tile = 1; tile < score_.size(); ++tile) {
    if (score_[tile] < score_[best]) continue;
    if (score_[tile] > score_[best] || mixed(salt ^ tile) > mixed(salt ^ best)) best = tile;
  }
  return static_cast<int>(best);
}

GazePoint SaliencyTargets::choose(const FixationRequest& request, const SceneView& scene) {
  motion_.conspicuity(request.elapsed_ns, score_);
  for (float& value : score_) value = kRestWeight + kMotionWeight * value;
  if (scene.levels != nullptr) {
    contrast_.conspicuity(*scene.levels, scratch_);
    for (std::size_t i = 0; i < score_.size(); ++i) score_[i] += kContrastWeight * scratch_[i];
  }
  apply_center_prior();
  memory_.inhibit(request.elapsed_ns, kTiles, kTiles, around_, score_);
  apply_saccade_priors();
  for (std::size_t i = 0; i < ignored_.size(); ++i) {
    if (ignored_[i] != 0) score_[i] = -1;
  }

  const int tile = best_tile(request.index);
  const int left = tile % grid_.cols * kTilePx;
  const int top = tile / grid_.cols * kTilePx;
  FixationMemory::Place target;
  target.x_px = 0.5 * (left + std::min(left + kTilePx, geometry_.width_px));
  target.y_px = 0.5 * (top + std::min(top + kTilePx, geometry_.height_px));
  target.elapsed_ns = request.elapsed_ns;
  memory_.remember(target);
  return {.u = static_cast<float>(target.x_px / geometry_.width_px),
          .v = static_cast<float>(target.y_px / geometry_.height_px)};
}

}  // namespace

std::unique_ptr<FixationTargets> make_saliency_targets(std::uint64_t seed, double fov_deg, const IgnoreRegions& ignore,
                                                       const FrameGeometry& geometry) {
  return std::make_unique<SaliencyTargets>(seed, fov_deg, ignore, geometry, tiles_of(geometry));
}

}  // namespace saccade
