#include "pipeline/views/crops.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "pipeline/error.h"

namespace saccade {
namespace {

constexpr std::size_t kMostRegions = 64;
constexpr int kApart = 2;          // tiles from one tile of a region to the next
constexpr int kLeastSide = 56;     // texels: with less around it, a model reads little
constexpr int kNamingTokens = 32;  // of the words that name one more picture

struct Region {
  TileRect tiles;
  int level = 1;
  int tokens = 0;  // of its pictures; more than any budget: they can't be had
};

TileRect around(const TileRect& a, const TileRect& b) {
  const int x = std::min(a.x, b.x), y = std::min(a.y, b.y);
  return {x, y, std::max(a.x + a.width, b.x + b.width) - x, std::max(a.y + a.height, b.y + b.height) - y};
}

// Appends the pictures that show these tiles. False: there are none.
bool append_views(const TileRect& tiles, int level, ImageSize frame, const TokenRule& rule, std::vector<View>& out) {
  if (const auto view = view_of(tiles, level, frame, rule)) {
    out.push_back(*view);
    return true;
  }
  if (tiles.width * tiles.height == 1) return false;
  TileRect first = tiles, second = tiles;
  if (tiles.width >= tiles.height) {
    first.width = tiles.width / 2;
    second.x += first.width;
    second.width -= first.width;
  } else {
    first.height = tiles.height / 2;
    second.y += first.height;
    second.height -= first.height;
  }
  return append_views(first, level, frame, rule, out) && append_views(second, level, frame, rule, out);
}

class Regions {
 public:
  Regions(TileGrid grid, ImageSize frame, const TokenRule& rule) : grid_(grid), frame_(frame), rule_(rule) {}

  // False: there are too many.
  bool find(std::span<const Square> squares) {
    mark(squares);
    for (std::size_t tile = 0; tile < levels_.size(); ++tile) {
      if (levels_[tile] == kNone) continue;
      if (regions_.size() == kMostRegions) return false;
      regions_.push_back(flood(static_cast<int>(tile)));
      count(regions_.back());
    }
    return true;
  }

  void merge(std::size_t most) {
    while (regions_.size() > 1) {
      std::size_t one = 0, other = 0;
      std::int64_t least = std::numeric_limits<std::int64_t>::max();
      for (std::size_t a = 0; a < regions_.size(); ++a) {
        for (std::size_t b = a + 1; b < regions_.size(); ++b) {
          const std::int64_t more = merged(regions_[a], regions_[b]).tokens - regions_[a].tokens - regions_[b].tokens;
          if (more < least) {
            least = more;
            one = a;
            other = b;
          }
        }
      }
      if (least > kNamingTokens && regions_.size() <= most) return;
      regions_[one] = merged(regions_[one], regions_[other]);
      regions_.erase(regions_.begin() + static_cast<std::ptrdiff_t>(other));
    }
  }

  std::optional<std::vector<View>> views() const {
    std::vector<View> out;
    for (const Region& region : regions_) {
      if (!append_views(region.tiles, region.level, frame_, rule_, out)) return std::nullopt;
    }
    return out;
  }

 private:
  static constexpr std::uint8_t kNone = 255;

  void mark(std::span<const Square> squares) {
    levels_.assign(static_cast<std::size_t>(grid_.count()), kNone);
    for (const Square& square : squares) {
      for (int y = square.y << square.level; y < std::min((square.y + 1) << square.level, grid_.rows); ++y) {
        for (int x = square.x << square.level; x < std::min((square.x + 1) << square.level, grid_.cols); ++x) {
          levels_[static_cast<std::size_t>(y * grid_.cols + x)] = static_cast<std::uint8_t>(square.level);
        }
      }
    }
  }

  // The region of this tile, whose tiles are taken.
  Region flood(int tile) {
    Region region{.tiles = {tile % grid_.cols, tile / grid_.cols, 1, 1}};
    open_.assign(1, tile);
    region.level = take(tile);
    while (!open_.empty()) {
      const int x = open_.back() % grid_.cols, y = open_.back() / grid_.cols;
      open_.pop_back();
      region.tiles = around(region.tiles, {x, y, 1, 1});
      for (int ny = std::max(y - kApart, 0); ny <= std::min(y + kApart, grid_.rows - 1); ++ny) {
        for (int nx = std::max(x - kApart, 0); nx <= std::min(x + kApart, grid_.cols - 1); ++nx) {
          const int next = ny * grid_.cols + nx;
          if (levels_[static_cast<std::size_t>(next)] == kNone) continue;
          region.level = std::min(region.level, take(next));
          open_.push_back(next);
        }
      }
    }
    return region;
  }

  int take(int tile) {
    const int level = levels_[static_cast<std::size_t>(tile)];
    levels_[static_cast<std::size_t>(tile)] = kNone;
    return level;
  }

  void count(Region& region) {
    views_.clear();
    region.tokens = std::numeric_limits<int>::max() / 4;
    if (!append_views(region.tiles, region.level, frame_, rule_, views_)) return;
    region.tokens = 0;
    for (const View& view : views_) region.tokens += view.tokens;
  }

  Region merged(const Region& a, const Region& b) {
    Region both{around(a.tiles, b.tiles), std::min(a.level, b.level)};
    count(both);
    return both;
  }

  TileGrid grid_;
  ImageSize frame_;
  const TokenRule& rule_;
  std::vector<std::uint8_t> levels_;  // of each tile that no region has
  std::vector<int> open_;
  std::vector<Region> regions_;
  std::vector<View> views_;
};

// Where a view of so many pixels shows [from, from + extent), of a frame of frame_px: around it, inside the frame where
// it fits, on a multiple of step.
int placed(int from, int extent, int view_px, int frame_px, int step) {
  const int centred = from - (view_px - extent) / 2;
  const int last = (std::max(frame_px - view_px, 0) + step - 1) / step * step;
  return std::clamp(centred, 0, last) / step * step;
}

}  // namespace

std::optional<View> view_of(const TileRect& tiles, int level, ImageSize frame, const TokenRule& rule) {
  const int step = 1 << level;
  const int left = tiles.x * kTilePx, top = tiles.y * kTilePx;
  const int right = std::min(left + tiles.width * kTilePx, frame.width);
  const int bottom = std::min(top + tiles.height * kTilePx, frame.height);
  const auto texels = [&](int from, int to) { return std::max((to - from + step - 1) >> level, kLeastSide); };
  const auto size = kept_size(rule, {texels(left, right), texels(top, bottom)});
  if (!size) return std::nullopt;
  View view{.box = {.x = 0, .y = 0, .width = size->width << level, .height = size->height << level},
            .level = level,
            .size = *size,
            .tokens = tokens_of(rule, *size).value_or(0)};
  view.box.x = placed(left, right - left, view.box.width, frame.width, step);
  view.box.y = placed(top, bottom - top, view.box.height, frame.height, step);
  return view;
}

int least_tokens(const TokenRule& rule) {
  const auto size = kept_size(rule, {kLeastSide, kLeastSide});
  const auto tokens = size ? tokens_of(rule, *size) : std::nullopt;
  if (!tokens) throw UsageError("the rule of tokens: the server resizes any picture; check max_pixels and step_px");
  return *tokens;
}

std::optional<std::vector<View>> crops_of(std::span<const Square> squares, TileGrid grid, ImageSize frame,
                                          const TokenRule& rule, const CropLimits& limits) {
  Regions regions(grid, frame, rule);
  if (!regions.find(squares)) return std::nullopt;
  regions.merge(static_cast<std::size_t>(std::max(limits.views, 1)));
  auto views = regions.views();
  if (!views || views->size() > static_cast<std::size_t>(limits.views)) return std::nullopt;
  std::int64_t tokens = 0;
  for (const View& view : *views) tokens += view.tokens;
  if (tokens > limits.tokens) return std::nullopt;
  return views;
}

}  // namespace saccade
