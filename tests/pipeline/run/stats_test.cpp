#include "pipeline/run/stats.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace saccade {
namespace {

double sorted_percentile_ms(std::vector<std::int64_t> values, double percent) {
  std::sort(values.begin(), values.end());
  const auto rank =
      std::max<std::size_t>(static_cast<std::size_t>(std::ceil(percent / 100 * static_cast<double>(values.size()))), 1);
  return static_cast<double>(values[rank - 1]) / 1e6;
}

TEST(DurationHistogram, Empty_IsZero) {
  const DurationHistogram histogram;
  EXPECT_EQ(histogram.count(), 0);
  EXPECT_EQ(histogram.mean_ms(), 0);
  EXPECT_EQ(histogram.percentile_ms(50), 0);
  EXPECT_EQ(histogram.max_ms(), 0);
}

TEST(DurationHistogram, CountsSumsExtremes_AreExact) {
  DurationHistogram histogram;
  for (const std::int64_t ns : {3'000'000, 1'000'000, 5'000'000, 7'000'001}) histogram.record(ns);
  EXPECT_EQ(histogram.count(), 4);
  EXPECT_DOUBLE_EQ(histogram.total_ms(), 16.000001);
  EXPECT_DOUBLE_EQ(histogram.mean_ms(), 4.00000025);
  EXPECT_DOUBLE_EQ(histogram.min_ms(), 1.0);
  EXPECT_DOUBLE_EQ(histogram.max_ms(), 7.000001);
  EXPECT_DOUBLE_EQ(histogram.percentile_ms(0), 1.0);
  EXPECT_DOUBLE_EQ(histogram.percentile_ms(100), 7.000001);
}

TEST(DurationHistogram, Percentiles_LieWithinASixtyFourth) {
  for (const unsigned seed : {1U, 2U, 3U}) {
    std::mt19937 random(seed);
    std::lognormal_distribution<double> durations(13.0, 2.5);
    DurationHistogram histogram;
    std::vector<std::int64_t> values;
    for (int i = 0; i < 20000; ++i) {
      values.push_back(static_cast<std::int64_t>(durations(random)));
      histogram.record(values.back());
    }
    for (const double percent : {0.0, 1.0, 10.0, 50.0, 90.0, 95.0, 99.0, 99.9, 100.0}) {
      const double expected = sorted_percentile_ms(values, percent);
      EXPECT_NEAR(histogram.percentile_ms(percent), expected, expected / 64) << "seed " << seed << ", p" << percent;
    }
  }
}

TEST(DurationHistogram, ExtremeDurations_AreCounted) {
  DurationHistogram one;
  one.record(1);
  EXPECT_DOUBLE_EQ(one.percentile_ms(50), 1e-6);
  DurationHistogram edges;
  for (const std::int64_t ns : {63, 64, 127, 128, 129}) edges.record(ns);
  EXPECT_NEAR(edges.percentile_ms(60), 127e-6, 127e-6 / 64);
  DurationHistogram negative;
  negative.record(-5);
  EXPECT_EQ(negative.max_ms(), 0);
  DurationHistogram huge;
  huge.record(std::int64_t{1} << 60);
  huge.record(std::int64_t{4'000'000'000'000});  // over an hour
  huge.record(std::int64_t{1} << 60);
  EXPECT_NEAR(huge.percentile_ms(33), 4e6, 4e6 / 64);
}

TEST(Stage, EachOne_HasANameOfItsOwn) {
  std::set<std::string> names;
  for (int i = 0; i < kStageCount; ++i) names.insert(name(static_cast<Stage>(i)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kStageCount));
  EXPECT_EQ(names.count("?"), 0U);
  EXPECT_STREQ(name(Stage::kDecode), "decode");
  EXPECT_STREQ(name(Stage::kScanpath), "scanpath");
  EXPECT_STREQ(name(Stage::kFrame), "frame");
}

}  // namespace
}  // namespace saccade
