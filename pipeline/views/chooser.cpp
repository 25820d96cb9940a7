#include "pipeline/views/chooser.h"

#include <algorithm>
#include <utility>

#include "pipeline/gaze/weights/acuity.h"

namespace saccade {
namespace {

constexpr int kCropLevels = 2;       // native and half resolution
constexpr int kLeastOverview = 300;  // texels of its long side
constexpr double kSquareTexels = kTilePx * kTilePx;

// Squares that so many tokens can show at most.
int most_squares(const TokenRule& rule, int tokens, TileGrid grid) {
  const double texels = tokens / rule.unit_tokens * rule.unit_px * rule.unit_px;
  return static_cast<int>(std::min(texels / kSquareTexels + 1, static_cast<double>(grid.count())));
}

}  // namespace

ViewChooser::ViewChooser(std::unique_ptr<HeldPicture> held, TileGrid grid, ImageSize frame)
    : held_(std::move(held)),
      grid_(grid),
      frame_(frame),
      choice_(grid, std::min(held_->levels(), kCropLevels)),
      fatigue_(grid),
      news_(static_cast<std::size_t>(grid.count())),
      left_(news_.size()),
      half_left_(news_.size()),
      weights_(news_.size()),
      rated_(news_.size()) {
  Damage all(grid);
  all.set_all();
  held_->note(all);
}

// A frame that changes everywhere puts no part of it before another.
void ViewChooser::note(std::int64_t pts_ns, const Damage& damage) {
  if (pts_ns_ && pts_ns < *pts_ns_) forget();
  pts_ns_ = pts_ns;
  held_->note(damage);
  if (damage.all()) {
    std::fill(news_.begin(), news_.end(), News::kWithAll);
  } else {
    damage.for_each([this](int tile) { news_[static_cast<std::size_t>(tile)] = News::kOwn; });
  }
}

void ViewChooser::forget() {
  any_sent_ = false;
  held_->forget();
  fatigue_.forget();
}

void ViewChooser::forget(const TileRect& tiles) {
  if (tiles.width == grid_.cols && tiles.height == grid_.rows) return forget();
  held_->forget(tiles);
  for_each_tile(tiles, [this](std::size_t tile) { news_[tile] = News::kOwn; });
}

std::uint32_t ViewChooser::mean_error(int level, std::size_t tile) const {
  return level == 0 ? 0 : errors_.means[static_cast<std::size_t>(level) - 1][tile];
}

// Tiles whose pixels all lie in the box, of those that lie in the frame.
TileRect ViewChooser::tiles_in(const FrameBox& box) const {
  const auto first = [](int from) { return (from + kTilePx - 1) / kTilePx; };
  const auto past = [](int to, int frame_px, int count) { return to >= frame_px ? count : to / kTilePx; };
  const int x = first(box.x), y = first(box.y);
  return {x, y, std::max(past(box.x + box.width, frame_.width, grid_.cols) - x, 0),
          std::max(past(box.y + box.height, frame_.height, grid_.rows) - y, 0)};
}

template <typename F>
void ViewChooser::for_each_tile(const TileRect& tiles, F&& f) const {
  for (int y = tiles.y; y < tiles.y + tiles.height; ++y) {
    for (int x = tiles.x; x < tiles.x + tiles.width; ++x) f(static_cast<std::size_t>(y * grid_.cols + x));
  }
}

void ViewChooser::weigh(const ViewRequest& request) {
  std::fill(weights_.begin(), weights_.end(), kFullWeight);
  fatigue_.weigh(pts_ns_.value_or(0), weights_);
  if (request.look) {
    weigh_by_acuity(request.look->fovea, static_cast<float>(request.look->at.x), static_cast<float>(request.look->at.y),
                    1.0f, grid_, weights_);
  }
  if (!request.new_only || !any_sent_) return;
  for (std::size_t tile = 0; tile < weights_.size(); ++tile) {
    if (news_[tile] == News::kNone) weights_[tile] = 0;
  }
}

// Paints a view into what is left.
void ViewChooser::show(const View& view) {
  for_each_tile(tiles_in(view.box),
                [&](std::size_t tile) { left_[tile] = std::min(left_[tile], mean_error(view.level, tile)); });
}

std::int64_t ViewChooser::weighted(std::span<const std::uint32_t> errors) const {
  std::int64_t sum = 0;
  for (std::size_t tile = 0; tile < errors.size(); ++tile) sum += std::int64_t{errors[tile]} * weights_[tile] >> 16;
  return sum;
}

// The crops of the best squares, so many at most. shown: how many there are. Empty: they can't be shown.
std::vector<View> ViewChooser::crops_within(const ViewRequest& request, const CropLimits& limits, int squares,
                                            int& shown) {
  const std::span<const Square> chosen = choice_.at_most(squares);
  shown = static_cast<int>(chosen.size());
  return crops_of(chosen, grid_, frame_, request.rule, limits).value_or(std::vector<View>{});
}

std::vector<View> ViewChooser::crops(const ViewRequest& request, const CropLimits& limits, bool only_new) {
  for (std::size_t tile = 0; tile < left_.size(); ++tile)
    rated_[tile] = only_new && news_[tile] != News::kOwn ? 0 : weights_[tile];
  for (std::size_t tile = 0; tile < left_.size(); ++tile) half_left_[tile] = std::min(left_[tile], mean_error(1, tile));
  TileErrors errors{.held = left_, .means = {half_left_, left_, left_, left_}};
  choice_.rate(errors, rated_);
  int shown = 0, low = 0, high = most_squares(request.rule, limits.tokens, grid_) + 1;
  std::vector<View> best = crops_within(request, limits, high - 1, shown);
  if (!best.empty() || shown == 0) return best;
  high = shown;
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    std::vector<View> views = crops_within(request, limits, middle, shown);
    if (views.empty()) {
      high = middle;
    } else {
      low = middle;
      best = std::move(views);
    }
  }
  return best;
}

ViewChooser::Plan ViewChooser::plan(const ViewRequest& request, int overview) {
  Plan plan;
  std::copy(errors_.held.begin(), errors_.held.end(), left_.begin());
  CropLimits limits{request.tokens, request.rule.most_images > 0 ? request.rule.most_images : kMostViews};
  if (overview >= 0) {
    const auto view = view_of({0, 0, grid_.cols, grid_.rows}, overview, frame_, request.rule);
    if (!view || view->tokens > request.tokens) return plan;
    show(*view);
    plan.views.push_back(*view);
    limits.tokens -= view->tokens;
    --limits.views;
  }
  const bool alone = overview == 0 || (overview > 0 && request.new_only && !any_sent_);
  for (const bool only_new : {true, false}) {
    if (alone || limits.views <= 0) break;
    for (const View& view : crops(request, limits, only_new)) {
      show(view);
      plan.views.push_back(view);
      limits.tokens -= view.tokens;
      --limits.views;
    }
  }
  for (const View& view : plan.views) plan.tokens += view.tokens;
  plan.left = weighted(left_);
  return plan;
}

// One smaller than kLeastOverview shows nothing of the layout, so it comes only where no larger one fits.
ViewChooser::Plan ViewChooser::best_overview(const ViewRequest& request) {
  Plan best;
  for (int level = 0; level < held_->levels(); ++level) {
    if (!best.views.empty() && std::max(frame_.width, frame_.height) >> level < kLeastOverview) break;
    Plan plan = this->plan(request, level);
    const bool better = std::pair(plan.left, plan.tokens) < std::pair(best.left, best.tokens);
    if (!plan.views.empty() && (best.views.empty() || better)) best = std::move(plan);
  }
  return best;
}

void ViewChooser::give_reasons(const ViewRequest& request, std::vector<View>& views) const {
  const News least = request.new_only ? News::kWithAll : News::kOwn;
  for (View& view : views) {
    const TileRect shown = tiles_in(view.box);
    if (shown.width == grid_.cols && shown.height == grid_.rows) {
      view.reason = ViewReason::kOverview;
      continue;
    }
    for_each_tile(shown, [&](std::size_t tile) {
      if (news_[tile] >= least) view.reason = ViewReason::kNew;
    });
    if (request.look && contains(view.box, request.look->at)) view.reason = ViewReason::kLookedAt;
  }
}

std::vector<View> ViewChooser::choose(const ViewRequest& request) {
  errors_ = held_->measure();
  weigh(request);
  Plan best = best_overview(request);
  if (any_sent_ || best.views.empty()) {
    Plan crops = plan(request, -1);
    if (best.views.empty() || 2 * best.left >= crops.left) best = std::move(crops);
  }
  give_reasons(request, best.views);
  hold(best.views);
  std::stable_sort(best.views.begin(), best.views.end(), [](const View& a, const View& b) {
    const bool overview = a.reason == ViewReason::kOverview;
    if (overview != (b.reason == ViewReason::kOverview)) return overview;
    return std::pair(a.box.y, a.box.x) < std::pair(b.box.y, b.box.x);
  });
  return std::move(best.views);
}

// Calls f(square, its tiles) for each square of a level that these tiles touch.
template <typename F>
void ViewChooser::for_each_square(int level, const TileRect& tiles, F&& f) const {
  for (int y = tiles.y >> level; y << level < tiles.y + tiles.height; ++y) {
    for (int x = tiles.x >> level; x << level < tiles.x + tiles.width; ++x) {
      const int left = x << level, top = y << level, side = 1 << level;
      f(Square{level, x, y}, TileRect{left, top, std::min(side, grid_.cols - left), std::min(side, grid_.rows - top)});
    }
  }
}

// Squares that are held just as this level has them, and finer than the coarsest view would show them.
void ViewChooser::add_kept(int level, int coarsest, std::vector<Square>& out) const {
  for_each_square(level, {0, 0, grid_.cols, grid_.rows}, [&](const Square& square, const TileRect& tiles) {
    bool same = true, finer = false;
    for_each_tile(tiles, [&](std::size_t tile) {
      same = same && errors_.held[tile] == mean_error(level, tile);
      finer = finer || errors_.held[tile] < mean_error(coarsest, tile);
    });
    if (same && finer) out.push_back(square);
  });
}

// Squares of the view that are better than what is held.
void ViewChooser::add_shown(const View& view, std::vector<Square>& out) const {
  const TileRect shown = tiles_in(view.box);
  for_each_square(view.level, shown, [&](const Square& square, const TileRect& tiles) {
    const bool inside = tiles.x >= shown.x && tiles.y >= shown.y && tiles.x + tiles.width <= shown.x + shown.width &&
                        tiles.y + tiles.height <= shown.y + shown.height;
    bool better = false;
    for_each_tile(tiles,
                  [&](std::size_t tile) { better = better || mean_error(view.level, tile) < errors_.held[tile]; });
    if (inside && better) out.push_back(square);
  });
}

// A square holds all of its tiles: coarse ones come first, and what is held as it is at a finer level is held again.
void ViewChooser::hold(std::span<const View> views) {
  int coarsest = 0;
  for (const View& view : views) coarsest = std::max(coarsest, view.level);
  any_sent_ = any_sent_ || !views.empty();
  std::vector<Square> squares, fine;
  for (int level = coarsest; level >= 0; --level) {
    if (level < coarsest) add_kept(level, coarsest, squares);
    for (const View& view : views) {
      if (view.level == level) add_shown(view, squares);
    }
  }
  for (const View& view : views) {
    if (view.level >= kCropLevels) continue;
    for_each_square(0, tiles_in(view.box), [&](const Square& square, const TileRect& tiles) {
      const auto tile = static_cast<std::size_t>(tiles.y * grid_.cols + tiles.x);
      if (errors_.held[tile] != 0) fine.push_back(square);
      if (view.level == 0) news_[tile] = News::kNone;
    });
  }
  fatigue_.note(pts_ns_.value_or(0), fine);
  held_->hold(squares);
}

}  // namespace saccade
