#include "pipeline/gaze/allocate/allocator.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "pipeline/gaze/saliency.h"
#include "pipeline/gaze/weights/acuity.h"
#include "pipeline/gaze/weights/ignored.h"

namespace saccade {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::int64_t kNever = -1;

// Of the tiles that no region ignores: their pixels, and the sum of squared errors.
struct Shown {
  std::int64_t pixels = 0, error = 0;
};

Shown shown(std::span<const std::uint32_t> errors, std::span<const std::uint8_t> ignored, const FrameGeometry& frame) {
  const TileGrid grid = tiles_of(frame);
  Shown all;
  std::size_t tile = 0;
  for (int ty = 0; ty < grid.rows; ++ty) {
    const int rows = std::min(kTilePx, frame.height_px - ty * kTilePx);
    for (int tx = 0; tx < grid.cols; ++tx, ++tile) {
      if (!ignored.empty() && ignored[tile] != 0) continue;
      all.pixels += rows * std::min(kTilePx, frame.width_px - tx * kTilePx);
      all.error += errors[tile];
    }
  }
  return all;
}

// The sum of squared errors that this PSNR allows.
std::int64_t allowed_error(double psnr_db, int luma_span, std::int64_t pixels) {
  return static_cast<std::int64_t>(luma_span * luma_span * static_cast<double>(pixels) *
                                   std::pow(10.0, -psnr_db / 10.0));
}

template <typename F>
void for_each_tile(const Square& square, TileGrid grid, F&& f) {
  for (int y = square.y << square.level; y < std::min((square.y + 1) << square.level, grid.rows); ++y) {
    for (int x = square.x << square.level; x < std::min((square.x + 1) << square.level, grid.cols); ++x) f(x, y);
  }
}

}  // namespace

TileRect tiles_touched(const UvBox& box, const FrameGeometry& geometry) {
  const TileGrid grid = tiles_of(geometry);
  const auto first = [](float edge, int extent_px) {
    return static_cast<int>(edge * static_cast<float>(extent_px)) / kTilePx;
  };
  const auto past = [](float edge, int extent_px, int tiles) {
    return std::min(static_cast<int>(std::ceil(edge * static_cast<float>(extent_px) / kTilePx)), tiles);
  };
  const int left = first(box.left, geometry.width_px), top = first(box.top, geometry.height_px);
  return {left, top, past(box.right, geometry.width_px, grid.cols) - left,
          past(box.bottom, geometry.height_px, grid.rows) - top};
}

ErrorMeasure measure_of(const AdaptiveShape& shape) { return shape.target_psnr ? kForPsnr : ErrorMeasure{}; }

Allocator::Allocator(std::unique_ptr<HeldPicture> held, std::unique_ptr<HeldPicture> squares,
                     const LatticeConfig& config, const IgnoreRegions& ignore, const FrameGeometry& geometry)
    : held_(std::move(held)),
      squares_(std::move(squares)),
      shape_(std::get<AdaptiveShape>(config.shape)),
      lattice_(make_lattice(config, geometry)),
      geometry_(geometry),
      grid_(tiles_of(geometry)),
      ignored_(ignored_tiles(ignore, grid_, geometry)),
      fatigue_(grid_),
      onset_(grid_),
      cues_(grid_, geometry.width_px, geometry.height_px),
      choice_(grid_, held_->levels()),
      weights_(static_cast<std::size_t>(grid_.count())),
      came_by_(weights_.size(), kNever) {
  exclude_outside();
}

bool Allocator::configure(const LatticeConfig& config) {
  const auto* const shape = std::get_if<AdaptiveShape>(&config.shape);
  if (shape == nullptr || measure_of(*shape) != measure_of(shape_)) return false;
  lattice_ = make_lattice(config, geometry_);
  if (!shape->context) {
    context_.clear();
  } else if (!shape_.context) {  // of what came before only the picture is known: it stays
    lost_ = first_ = sent_;
  }
  shape_ = *shape;
  return true;
}

// A square at the frame's edge may have pixels of it, but no sample: half of one is outside.
void Allocator::exclude_outside() {
  for (int level = 1; level < held_->levels(); ++level) {
    for (int y = 0; y << level < grid_.rows; ++y) {
      for (int x = 0; x << level < grid_.cols; ++x) {
        const Square square{level, x, y};
        if (patch_of(square).coverage == 0) choice_.exclude(square);
      }
    }
  }
}

Patch Allocator::patch_of(const Square& square) const {
  const int side = kTilePx << square.level;
  const auto side_px = static_cast<float>(side);
  Patch patch{.x_px = (static_cast<float>(square.x) + 0.5f) * side_px,
              .y_px = (static_cast<float>(square.y) + 0.5f) * side_px,
              .lod = static_cast<float>(square.level)};
  const bool inside = (square.x + 1) * side <= geometry_.width_px && (square.y + 1) * side <= geometry_.height_px;
  patch.coverage = inside ? 1 : patch_coverage(patch, kTilePx, geometry_.width_px, geometry_.height_px);
  return patch;
}

// The most that this look may send. A look's worth can be saved up.
// The first look has what the time of a fixation gives.
int Allocator::save_up(std::int64_t pts_ns) {
  if (!shape_.tokens_per_second) return shape_.tokens;
  constexpr std::int64_t kFixationNs = kSecondNs / 4, kLongestNs = 1000 * kSecondNs;
  const std::int64_t passed_ns =
      last_pts_ns_ ? std::clamp(pts_ns - *last_pts_ns_, std::int64_t{0}, kLongestNs) : kFixationNs;
  saved_ = std::min(saved_ + *shape_.tokens_per_second * passed_ns, shape_.tokens * kSecondNs);
  return static_cast<int>(saved_ / kSecondNs);
}

// In full, except what is ignored.
void Allocator::weigh_alike() {
  std::fill(weights_.begin(), weights_.end(), kFullWeight);
  weigh_ignored(ignored_, weights_);
}

void Allocator::weigh(std::int64_t pts_ns, float fix_x_px, float fix_y_px) {
  weigh_alike();
  if (shape_.eye > 0) {
    weigh_by_acuity(lattice_->fovea(), fix_x_px, fix_y_px, static_cast<float>(shape_.eye), grid_, weights_);
  }
  fatigue_.weigh(pts_ns, weights_);
  onset_.weigh(pts_ns, weights_);
  cues_.weigh(pts_ns, weights_);
}

// A PSNR that fits the budget is reached by the fewest squares, whatever they weigh.
std::span<const Square> Allocator::choose(std::int64_t pts_ns, float fix_x_px, float fix_y_px, int most) {
  const TileErrors errors = held_->measure();
  if (shape_.target_psnr) {
    weigh_alike();
    choice_.rate(errors, weights_);
    const auto [pixels, error] = shown(errors.held, ignored_, geometry_);
    const auto squares = choice_.that_gain(error - allowed_error(*shape_.target_psnr, luma_span_, pixels));
    if (squares.size() <= static_cast<std::size_t>(most)) return squares;
  }
  weigh(pts_ns, fix_x_px, fix_y_px);
  choice_.rate(errors, weights_);
  return choice_.at_most(most);
}

void Allocator::note(std::int64_t pts_ns, const Damage& damage, const ScreenCues& cues) {
  if (noted_ns_ && pts_ns < *noted_ns_) forget();
  noted_ns_ = pts_ns;
  held_->note(damage);
  if (squares_) squares_->note(damage);
  onset_.note(pts_ns, damage);
  cues_.note(pts_ns, damage, cues);
}

void Allocator::look(std::int64_t pts_ns, float fix_u, float fix_v, int luma_span, PatchPlan& out) {
  const int most = save_up(pts_ns);
  last_pts_ns_ = pts_ns;
  luma_span_ = luma_span;
  lattice_->plan(fix_u, fix_v, out);
  if (shape_.context) forget_beyond_context(pts_ns);
  const std::span<const Square> squares = choose(pts_ns, out.fix_x_px, out.fix_y_px, most);
  held_->hold(squares);
  if (squares_) {
    squares_->measure();
    squares_->hold(squares);
  }
  if (shape_.tokens_per_second) saved_ -= static_cast<std::int64_t>(squares.size()) * kSecondNs;
  note_sent(pts_ns, squares);
  fatigue_.note(pts_ns, squares);
  std::transform(squares.begin(), squares.end(), out.patches.begin(),
                 [this](const Square& square) { return patch_of(square); });
}

void Allocator::forget() {
  held_->forget();
  if (squares_) squares_->forget();
  std::fill(came_by_.begin(), came_by_.end(), kNever);
  fatigue_.forget();
  onset_.forget();
  cues_.forget();
  lost_ = sent_;
}

void Allocator::forget(const UvBox& lost) {
  const TileRect tiles = tiles_touched(lost, geometry_);
  if (tiles.width > 0 && tiles.height > 0) forget(tiles);
}

void Allocator::forget(const TileRect& tiles) {
  held_->forget(tiles);
  if (squares_) squares_->forget(tiles);
  for (int y = tiles.y; y < tiles.y + tiles.height; ++y) {
    std::fill_n(came_by_.begin() + (y * grid_.cols + tiles.x), tiles.width, kNever);
  }
}

std::span<const Weight> Allocator::weights(std::int64_t pts_ns, float fix_u, float fix_v) {
  weigh(pts_ns, fix_u * static_cast<float>(geometry_.width_px), fix_v * static_cast<float>(geometry_.height_px));
  return weights_;
}

std::optional<double> Allocator::psnr_db() {
  HeldPicture* const measured = shape_.target_psnr ? held_.get() : squares_.get();
  if (measured == nullptr || luma_span_ == 0) return std::nullopt;
  const auto [pixels, error] = shown(measured->measure().held, ignored_, geometry_);
  return 10 * std::log10(luma_span_ * luma_span_ * static_cast<double>(pixels) / static_cast<double>(error));
}

void Allocator::note_sent(std::int64_t pts_ns, std::span<const Square> sent) {
  for (const Square& square : sent) {
    for_each_tile(square, grid_, [&](int x, int y) { came_by_[static_cast<std::size_t>(y * grid_.cols + x)] = sent_; });
    if (shape_.context) context_.push_back({pts_ns, square});
    ++sent_;
  }
}

// What no newer token shows is lost with its token.
void Allocator::forget_beyond_context(std::int64_t pts_ns) {
  const auto token = [this](std::int64_t number) { return context_[static_cast<std::size_t>(number - first_)]; };
  const auto is_beyond = [&](std::int64_t number) {
    if (!shape_.context->seconds) return static_cast<double>(sent_ - number) > shape_.context->value;
    return static_cast<double>(pts_ns - token(number).pts_ns) > shape_.context->value * static_cast<double>(kSecondNs);
  };
  for (; lost_ < sent_ && is_beyond(lost_); ++lost_) {
    for_each_tile(token(lost_).square, grid_, [&](int x, int y) {
      if (came_by_[static_cast<std::size_t>(y * grid_.cols + x)] == lost_) forget(TileRect{x, y, 1, 1});
    });
  }
  if (2 * (lost_ - first_) <= sent_ - first_) return;
  context_.erase(context_.begin(), context_.begin() + static_cast<std::ptrdiff_t>(lost_ - first_));
  first_ = lost_;
}

}  // namespace saccade
