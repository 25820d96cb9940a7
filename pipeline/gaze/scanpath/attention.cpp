#include "pipeline/gaze/scanpath/attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "pipeline/error.h"

namespace saccade {
namespace {

constexpr int kMostCells = 256;
constexpr float kNever = -std::numeric_limits<float>::infinity();

// The place of a cell's centre, and its weight: -inf where nothing is ever looked at.
struct Cells {
  const AttentionMap& map;
  double u(int col) const { return map.left_u + (col + 0.5) / map.cols * (map.right_u - map.left_u); }
  double v(int row) const { return map.top_v + (row + 0.5) / map.rows * (map.bottom_v - map.top_v); }
  static bool inside(double x) { return x >= 0 && x <= 1; }
  float weight(int row, int col) const {
    const float weight =
        map.weights[static_cast<std::size_t>(row) * static_cast<std::size_t>(map.cols) + static_cast<std::size_t>(col)];
    return !std::isnan(weight) && inside(u(col)) && inside(v(row)) ? weight : kNever;
  }
  template <typename F>
  void for_each(F&& f) const {
    for (int row = 0; row < map.rows; ++row) {
      for (int col = 0; col < map.cols; ++col) f(row, col, weight(row, col));
    }
  }
};

struct Range {
  float least = std::numeric_limits<float>::infinity();
  float most = kNever;
};

Range range_of(const AttentionMap& map) {
  Range range;
  Cells{map}.for_each([&](int, int, float weight) {
    if (weight == kNever) return;
    range.least = std::min(range.least, weight);
    range.most = std::max(range.most, weight);
  });
  return range;
}

}  // namespace

void check_attention(const AttentionMap& map) {
  const bool sized = map.rows > 0 && map.cols > 0;
  if (!sized || map.weights.size() != static_cast<std::size_t>(map.rows) * static_cast<std::size_t>(map.cols)) {
    throw UsageError(fmt::format("attention: {} weights are no map of {} rows x {} columns", map.weights.size(),
                                 map.rows, map.cols));
  }
  const double edges[] = {map.left_u, map.top_v, map.right_u, map.bottom_v};
  const bool finite = std::all_of(std::begin(edges), std::end(edges), [](double x) { return std::abs(x) <= 1e6; });
  if (!finite || !(map.left_u < map.right_u && map.top_v < map.bottom_v)) {
    throw UsageError(
        fmt::format("attention: {},{},{},{} is no box; expected left, top, right, bottom in 0 to 1 of the "
                    "displayed frame",
                    map.left_u, map.top_v, map.right_u, map.bottom_v));
  }
  const Range range = range_of(map);
  if (range.most == std::numeric_limits<float>::infinity()) throw UsageError("attention: a weight is infinite");
  if (range.most == kNever) throw UsageError("attention: no weight inside the frame is a number");
}

AttentionTargets::AttentionTargets(double fov_deg, const FrameGeometry& geometry)
    : geometry_(geometry), memory_(fov_deg, geometry) {}

void AttentionTargets::attend(const AttentionMap* map) {
  if (map == nullptr) {
    weight_.clear();
    return;
  }
  const int cols = std::min(map->cols, kMostCells);
  const int rows = std::min(map->rows, kMostCells);
  const auto count = static_cast<std::size_t>(cols) * static_cast<std::size_t>(rows);
  const Range range = range_of(*map);
  // Halved first: the difference of two floats may be none.
  const float span = range.most * 0.5f - range.least * 0.5f;
  weight_.assign(count, 0.0f);
  places_.assign(count, GazePoint{});
  score_.resize(count);
  around_.resize(static_cast<std::size_t>(cols), static_cast<std::size_t>(rows));
  const Cells cells{*map};
  cells.for_each([&](int row, int col, float weight) {
    if (weight == kNever) return;
    const auto at =
        static_cast<std::size_t>(std::int64_t{row} * rows / map->rows * cols + std::int64_t{col} * cols / map->cols);
    const float share = span > 0 ? (weight * 0.5f - range.least * 0.5f) / span : 1.0f;
    if (!(share > weight_[at])) return;
    weight_[at] = share;
    places_[at] = {.u = static_cast<float>(cells.u(col)), .v = static_cast<float>(cells.v(row))};
  });
  const double width_px = geometry_.width_px, height_px = geometry_.height_px;
  cols_ = {map->left_u * width_px, (map->right_u - map->left_u) * width_px / cols};
  rows_ = {map->top_v * height_px, (map->bottom_v - map->top_v) * height_px / rows};
}

GazePoint AttentionTargets::choose(const FixationRequest& request) {
  std::copy(weight_.begin(), weight_.end(), score_.begin());
  memory_.inhibit(request.elapsed_ns, cols_, rows_, around_, score_);
  auto best = std::max_element(score_.begin(), score_.end()) - score_.begin();
  if (!(score_[static_cast<std::size_t>(best)] > 0)) {
    best = std::max_element(weight_.begin(), weight_.end()) - weight_.begin();
  }
  const GazePoint place = places_[static_cast<std::size_t>(best)];
  memory_.remember({static_cast<double>(place.u) * geometry_.width_px,
                    static_cast<double>(place.v) * geometry_.height_px, request.elapsed_ns});
  return place;
}

}  // namespace saccade
