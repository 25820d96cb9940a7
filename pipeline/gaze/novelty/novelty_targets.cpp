// The policy that reads: it looks where most detail can be seen that was not yet seen, first at what has just appeared.
#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "pipeline/gaze/fixation_memory.h"
#include "pipeline/gaze/novelty/remembered_picture.h"
#include "pipeline/gaze/novelty/tile_sums.h"
#include "pipeline/gaze/saliency.h"
#include "pipeline/gaze/scanpath/scanpath_policy.h"

namespace saccade {
namespace {

constexpr double kFreshTauNs = 2e9;    // how long what appeared comes first, unless it is read
constexpr double kBoredTauNs = 1e9;    // how long a place that was looked at interests less, should it change
constexpr float kBoredom = 0.7f;       // and how much less
constexpr float kOldWeight = 0.2f;     // of detail that has long been there
constexpr double kHabitTauNs = 1e9;    // how soon the eye gets used to what changes all the time
constexpr float kHabitHalf = 3.0f;     // codes a texel that are replaced at each look and halve a place's interest
constexpr int kOnsetReach = 4;         // tiles around one in which what vanishes is taken off what appears
constexpr float kNoStrokes = 0.03f;    // weight of detail that is none of letters
constexpr float kMiddleWeight = 0.3f;  // of what falls into the fovea's middle, so that it lies there whole
constexpr float kNothingLeft = 0.01f;  // codes a texel over the fovea: below, there is nothing to be read
constexpr int kDefaultFoveaPx = 64;    // where no lattice says
constexpr std::size_t kManyPatches = 4096;

float mean(std::span<const float> values) {
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value);
  return static_cast<float>(sum / static_cast<double>(values.size()));
}

class NoveltyTargets final : public FixationTargets {
 public:
  NoveltyTargets(std::uint64_t seed, double fov_deg, const IgnoreRegions& ignore, const FrameGeometry& geometry,
                 TileGrid grid)
      : geometry_(geometry),
        grid_(grid),
        ignored_(ignored_tiles(ignore, grid, geometry)),
        picture_(grid, geometry),
        sums_(grid),
        came_(grid),
        gone_(grid),
        fresh_(static_cast<std::size_t>(grid.count())),
        bored_(fresh_.size()),
        habit_(fresh_.size()),
        score_(fresh_.size()),
        saliency_(make_saliency_targets(seed, fov_deg, ignore, geometry)) {
    plan_.patches.reserve(kManyPatches);
  }

  void observe(std::int64_t elapsed_ns, const SceneView& scene) override {
    saliency_->observe(elapsed_ns, scene);
    picture_.note(scene.damage);
  }
  GazePoint choose(const FixationRequest& request, const SceneView& scene) override;
  bool needs_scene() const override { return true; }
  void reset() override {
    saliency_->reset();
    picture_.forget();
    std::fill(fresh_.begin(), fresh_.end(), 0.0f);
    std::fill(bored_.begin(), bored_.end(), 0.0f);
    std::fill(habit_.begin(), habit_.end(), 0.0f);
    last_ns_ = 0;
  }

 private:
  void rate_tiles(std::int64_t elapsed_ns);
  void get_used(double since_ns);
  void refresh(double since_ns);
  float onset(int x, int y) const;
  void measure_fovea(const SceneView& scene);
  std::optional<GazePoint> best_place() const;
  void look_at(const GazePoint& place, const SceneView& scene);

  FrameGeometry geometry_;
  TileGrid grid_;
  std::vector<std::uint8_t> ignored_;  // of each tile; empty: none
  RememberedPicture picture_;
  TileSums sums_, came_, gone_;
  std::vector<float> fresh_;  // detail that appeared of late
  std::vector<float> bored_;  // 0 .. 1: looked at of late
  std::vector<float> habit_;  // detail replaced at each look, of late
  std::vector<float> score_;
  std::unique_ptr<FixationTargets> saliency_;
  PatchPlan plan_;
  std::int64_t last_ns_ = 0;
  int fovea_px_ = kDefaultFoveaPx;  // the side of the square that is seen in full
  int step_px_ = kTilePx;           // between places that differ
};

void NoveltyTargets::rate_tiles(std::int64_t elapsed_ns) {
  const auto since_ns = static_cast<double>(std::max<std::int64_t>(elapsed_ns - last_ns_, 0));
  last_ns_ = elapsed_ns;
  get_used(since_ns);
  refresh(since_ns);
  const auto keep_bored = static_cast<float>(std::exp(-since_ns / kBoredTauNs));
  const float usual = mean(habit_);
  const std::size_t count = score_.size();
  const float *const unread = picture_.unread().data(), *const strokes = picture_.strokes().data();
  const float *const fresh = fresh_.data(), *const habit = habit_.data();
  float *const bored = bored_.data(), *const score = score_.data();
  for (std::size_t i = 0; i < count; ++i) {
    bored[i] *= keep_bored;
    const float calm = (kHabitHalf + usual) / (kHabitHalf + habit[i]);
    const float detail = std::min(fresh[i], unread[i]) + kOldWeight * unread[i];
    const float letters = kNoStrokes + (1 - kNoStrokes) * strokes[i] * strokes[i];
    score[i] = detail * letters * calm * (1 - kBoredom * bored[i]);
  }
  for (std::size_t i = 0; i < ignored_.size(); ++i) {
    if (ignored_[i] != 0) score_[i] = 0;
  }
  sums_.sum_up(score_);
}

// What appears beyond what appears everywhere (the camera moves, or a cut) is fresh, as far as it is an onset.
void NoveltyTargets::refresh(double since_ns) {
  const auto keep = static_cast<float>(std::exp(-since_ns / kFreshTauNs));
  for (float& fresh : fresh_) fresh *= keep;
  const auto appeared = picture_.appeared();
  const float everywhere = picture_.mean_appeared();
  if (!(everywhere > 0)) return;  // nothing appears
  came_.sum_up(appeared);
  gone_.sum_up(picture_.vanished());
  std::size_t i = 0;
  for (int y = 0; y < grid_.rows; ++y) {
    for (int x = 0; x < grid_.cols; ++x, ++i) {
      const float more = appeared[i] - everywhere;
      if (more > fresh_[i]) fresh_[i] = std::max(fresh_[i], more * onset(x, y));  // an onset is at most 1
    }
  }
}

// 1 where more detail appears and none vanishes around the tile, 0 where as much vanishes: what moves is no onset.
float NoveltyTargets::onset(int x, int y) const {
  const auto around = [&](const TileSums& sums) {
    return sums.box(x - kOnsetReach, y - kOnsetReach, x + kOnsetReach + 1, y + kOnsetReach + 1);
  };
  const std::int64_t came = around(came_), gone = around(gone_);
  return came > gone ? static_cast<float>(static_cast<double>(came - gone) / static_cast<double>(came)) : 0.0f;
}

// Habituation: noise, flicker and what moves about at one place replace detail by detail again and again.
void NoveltyTargets::get_used(double since_ns) {
  const auto keep = static_cast<float>(std::exp(-since_ns / kHabitTauNs));
  const auto came = picture_.appeared(), gone = picture_.vanished();
  for (std::size_t i = 0; i < habit_.size(); ++i) {
    habit_[i] = habit_[i] * keep + std::min(came[i], gone[i]) * (1 - keep);
  }
}

// The lattice's own square of full resolution, and how finely it can be put.
void NoveltyTargets::measure_fovea(const SceneView& scene) {
  fovea_px_ = kDefaultFoveaPx;
  step_px_ = kTilePx;
  if (scene.lattice == nullptr) return;
  scene.lattice->plan(0.5f, 0.5f, plan_);
  float left = 0, right = 0;
  bool any = false;
  for (const Patch& patch : plan_.patches) {
    if (patch.lod >= 0.5f || !(patch.coverage > 0)) continue;
    const float half_px = 0.5f * std::exp2(patch.lod) * static_cast<float>(plan_.patch_size);
    left = any ? std::min(left, patch.x_px - half_px) : patch.x_px - half_px;
    right = any ? std::max(right, patch.x_px + half_px) : patch.x_px + half_px;
    any = true;
  }
  if (any) fovea_px_ = std::max(static_cast<int>(right - left) / kTilePx * kTilePx, kTilePx);
  step_px_ = std::max(scene.lattice->snap_px(), kTilePx) / kTilePx * kTilePx;
}

// Among equals the first. None: nothing is left to be read.
std::optional<GazePoint> NoveltyTargets::best_place() const {
  const int half = std::max(fovea_px_ / 2 / kTilePx, 1), middle = std::max(half / 2, 1);
  const int step = step_px_ / kTilePx;
  double best = 0;
  int best_x = 0, best_y = 0;
  for (int y = 0; y <= grid_.rows; y += step) {
    for (int x = 0; x <= grid_.cols; x += step) {
      const std::int64_t all = sums_.box(x - half, y - half, x + half, y + half);
      const std::int64_t inner = sums_.box(x - middle, y - middle, x + middle, y + middle);
      const double score = static_cast<double>(all) + static_cast<double>(kMiddleWeight) * static_cast<double>(inner);
      if (score <= best) continue;
      const std::size_t tile =
          static_cast<std::size_t>(std::min(y, grid_.rows - 1)) * static_cast<std::size_t>(grid_.cols) +
          static_cast<std::size_t>(std::min(x, grid_.cols - 1));
      if (!ignored_.empty() && ignored_[tile] != 0) continue;
      best = score;
      best_x = x;
      best_y = y;
    }
  }
  const double least = static_cast<double>(kNothingLeft) * 1024.0 * 4.0 * half * half;
  if (best <= least) return std::nullopt;
  return GazePoint{.u = std::min(static_cast<float>(best_x * kTilePx) / static_cast<float>(geometry_.width_px), 1.0f),
                   .v = std::min(static_cast<float>(best_y * kTilePx) / static_cast<float>(geometry_.height_px), 1.0f)};
}

void NoveltyTargets::look_at(const GazePoint& place, const SceneView& scene) {
  if (scene.lattice != nullptr) {
    scene.lattice->plan(place.u, place.v, plan_);
    picture_.see(plan_);
  }
  const int x = static_cast<int>(place.u * static_cast<float>(geometry_.width_px)) / kTilePx;
  const int y = static_cast<int>(place.v * static_cast<float>(geometry_.height_px)) / kTilePx;
  const int half = std::max(fovea_px_ / 2 / kTilePx, 1);
  for (int row = std::max(y - half, 0); row < std::min(y + half, grid_.rows); ++row) {
    for (int col = std::max(x - half, 0); col < std::min(x + half, grid_.cols); ++col) {
      const std::size_t tile =
          static_cast<std::size_t>(row) * static_cast<std::size_t>(grid_.cols) + static_cast<std::size_t>(col);
      bored_[tile] = 1;
    }
  }
}

GazePoint NoveltyTargets::choose(const FixationRequest& request, const SceneView& scene) {
  if (scene.levels == nullptr) return saliency_->choose(request, scene);
  measure_fovea(scene);
  picture_.read(*scene.levels);
  rate_tiles(request.elapsed_ns);
  const std::optional<GazePoint> best = best_place();
  const GazePoint place = best ? *best : saliency_->choose(request, scene);
  look_at(place, scene);
  return place;
}

}  // namespace

std::unique_ptr<FixationTargets> make_novelty_targets(std::uint64_t seed, double fov_deg, const IgnoreRegions& ignore,
                                                      const FrameGeometry& geometry) {
  return std::make_unique<NoveltyTargets>(seed, fov_deg, ignore, geometry, tiles_of(geometry));
}

}  // namespace saccade
