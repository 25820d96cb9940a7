// What the tests of lattices share: their refusals, and how often a plan covers each pixel.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "pipeline/error.h"
#include "pipeline/gaze/lattice/lattice.h"

namespace saccade {

// The fault in words; its hint has to be `hint`.
inline std::string usage_error(const LatticeConfig& config, const FrameGeometry& geometry, Hint hint = Hint::kNone) {
  try {
    make_lattice(config, geometry);
  } catch (const UsageError& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_EQ(error.hint(), hint) << error.what();
    return error.what();
  }
  return "no error";
}

// Counts how many patches cover each pixel of the frame, each patch being its square of S * 2^lod pixels.
inline std::vector<int> painted(const PatchPlan& plan, const FrameGeometry& geometry) {
  std::vector<int> paint(static_cast<std::size_t>(geometry.width_px) * static_cast<std::size_t>(geometry.height_px));
  for (const Patch& patch : plan.patches) {
    const double half = plan.patch_size * std::exp2(static_cast<double>(patch.lod)) / 2;
    const auto edge = [&](float centre, double offset, int limit) {
      return static_cast<int>(std::clamp(static_cast<double>(centre) + offset, 0.0, static_cast<double>(limit)));
    };
    for (int y = edge(patch.y_px, -half, geometry.height_px); y < edge(patch.y_px, half, geometry.height_px); ++y) {
      for (int x = edge(patch.x_px, -half, geometry.width_px); x < edge(patch.x_px, half, geometry.width_px); ++x) {
        ++paint[static_cast<std::size_t>(y) * static_cast<std::size_t>(geometry.width_px) +
                static_cast<std::size_t>(x)];
      }
    }
  }
  return paint;
}

inline void expect_covered_once(const Lattice& lattice, const FrameGeometry& geometry, float u, float v) {
  PatchPlan plan;
  lattice.plan(u, v, plan);
  ASSERT_EQ(plan.count(), lattice.patch_count());
  const std::vector<int> paint = painted(plan, geometry);
  const auto odd = std::find_if(paint.begin(), paint.end(), [](int times) { return times != 1; });
  EXPECT_EQ(odd, paint.end()) << "pixel " << (odd - paint.begin()) % geometry.width_px << ","
                              << (odd - paint.begin()) / geometry.width_px << " covered " << *odd << " times from " << u
                              << "," << v << ": " << lattice.describe();
}

}  // namespace saccade
