// The policies that do not look at the picture: center, random, raster, and a recorded scanpath.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <random>
#include <string_view>
#include <utility>

#include "pipeline/error.h"
#include "pipeline/gaze/scanpath/scanpath_policy.h"

namespace saccade {
namespace {

// "A<separator>B", both numbers, nothing else.
template <typename T>
std::optional<std::pair<T, T>> parse_pair(std::string_view text, char separator) {
  std::pair<T, T> values{};
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, values.first);
  if (first.ec != std::errc{} || first.ptr == end || *first.ptr != separator) return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, end, values.second);
  if (second.ec != std::errc{} || second.ptr != end) return std::nullopt;
  return values;
}

class BlindTargets : public FixationTargets {
 public:
  void observe(std::int64_t, const SceneView&) override {}
  void reset() override {}
};

class CenterTargets final : public BlindTargets {
 public:
  explicit CenterTargets(GazePoint point) : point_(point) {}
  GazePoint choose(const FixationRequest&, const SceneView&) override { return point_; }

 private:
  GazePoint point_;
};

class RandomTargets final : public BlindTargets {
 public:
  explicit RandomTargets(std::uint64_t seed) : seed_(seed), bits_(seed) {}
  void reset() override { bits_.seed(seed_); }
  GazePoint choose(const FixationRequest&, const SceneView&) override {
    GazePoint point;
    point.u = uniform();
    point.v = uniform();
    return point;
  }

 private:
  // The top 24 bits as 0 <= x < 1, exactly: std::uniform_real_distribution differs between standard libraries.
  float uniform() { return static_cast<float>(bits_() >> 40) * 0x1p-24f; }

  std::uint64_t seed_;
  std::mt19937_64 bits_;
};

class RasterTargets final : public BlindTargets {
 public:
  RasterTargets(int cols, int rows) : cols_(cols), rows_(rows) {}
  GazePoint choose(const FixationRequest& request, const SceneView&) override {
    const std::int64_t cell = request.index % (std::int64_t{cols_} * rows_);
    return {.u = (static_cast<float>(cell % cols_) + 0.5f) / static_cast<float>(cols_),
            .v = (static_cast<float>(cell / cols_) + 0.5f) / static_cast<float>(rows_)};
  }

 private:
  int cols_;
  int rows_;
};

class RecordedTargets final : public BlindTargets {
 public:
  explicit RecordedTargets(std::vector<GazePoint> points) : points_(std::move(points)) {}
  GazePoint choose(const FixationRequest& request, const SceneView&) override {
    return points_[static_cast<std::size_t>(request.index)];
  }

 private:
  std::vector<GazePoint> points_;
};

}  // namespace

std::unique_ptr<FixationTargets> make_center_targets(const std::string& argument) {
  if (argument.empty()) return std::make_unique<CenterTargets>(GazePoint{});
  const auto in_range = [](float x) { return x >= 0 && x <= 1; };
  const auto point = parse_pair<float>(argument, ',');
  if (!point || !in_range(point->first) || !in_range(point->second)) {
    throw UsageError(fmt::format("'center:{}': expected center:U,V with both from 0 to 1", argument));
  }
  return std::make_unique<CenterTargets>(GazePoint{.u = point->first, .v = point->second});
}

std::unique_ptr<FixationTargets> make_random_targets(std::uint64_t seed) {
  return std::make_unique<RandomTargets>(seed);
}

std::unique_ptr<FixationTargets> make_raster_targets(const std::string& argument) {
  if (argument.empty()) return std::make_unique<RasterTargets>(4, 3);
  const auto in_range = [](int x) { return x >= 1 && x <= 10000; };
  const auto size = parse_pair<int>(argument, 'x');
  if (!size || !in_range(size->first) || !in_range(size->second)) {
    throw UsageError(fmt::format("'raster:{}': expected raster:COLSxROWS, each from 1 to 10000", argument));
  }
  return std::make_unique<RasterTargets>(size->first, size->second);
}

std::unique_ptr<FixationTargets> make_recorded_targets(std::vector<GazePoint> points) {
  return std::make_unique<RecordedTargets>(std::move(points));
}

}  // namespace saccade
