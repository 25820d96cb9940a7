// The pyramid by its definition, from a frame alone: edges repeated to the padded extent, then true means of u64 sums.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/texture.h"
#include "tests/kernels/test_frame.h"

namespace saccade::test {

// Exact sums of one level, row-major, channels interleaved.
struct TruthLevel {
  int width = 0;
  int height = 0;
  std::vector<std::uint64_t> sums;
};

inline TruthLevel truth_base(const TestFrame& frame, const PlaneLayout& plane, int index) {
  TruthLevel base{plane.width, plane.height, {}};
  base.sums.reserve(static_cast<std::size_t>(plane.width * plane.height * plane.channels));
  for (int y = 0; y < plane.height; ++y) {
    for (int x = 0; x < plane.width; ++x) {
      for (int c = 0; c < plane.channels; ++c) {
        base.sums.push_back(static_cast<std::uint64_t>(
            frame.aligned(index, std::min(x, plane.image_width - 1), std::min(y, plane.image_height - 1), c)));
      }
    }
  }
  return base;
}

// Sums of unrounded sums: every level's sums are exact.
inline TruthLevel truth_above(const TruthLevel& fine, int channels) {
  TruthLevel coarse{fine.width / 2, fine.height / 2, {}};
  coarse.sums.resize(static_cast<std::size_t>(coarse.width * coarse.height * channels));
  for (int y = 0; y < fine.height; ++y) {
    for (int x = 0; x < fine.width; ++x) {
      for (int c = 0; c < channels; ++c) {
        const int at = ((y / 2) * coarse.width + x / 2) * channels + c;
        coarse.sums[static_cast<std::size_t>(at)] +=
            fine.sums[static_cast<std::size_t>((y * fine.width + x) * channels + c)];
      }
    }
  }
  return coarse;
}

// The number of texels of a level that differ from the true means.
inline std::size_t wrong_texels(const Levels& pyramid, const TruthLevel& truth, int plane, int level) {
  LevelImage image;
  pyramid.read_level(plane, level, image);
  const PlaneLayout& shape = pyramid.layout().planes[static_cast<std::size_t>(plane)];
  const std::uint64_t half = level == 0 ? 0 : std::uint64_t{1} << (2 * level - 1);
  const bool fits = image.width == truth.width && image.height == truth.height && image.channels == shape.channels &&
                    image.bytes_per_channel == shape.bytes_per_channel;
  if (!fits) return truth.sums.size();
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < truth.sums.size(); ++i) {
    std::uint16_t value = 0;
    if (shape.bytes_per_channel == 1) {
      value = image.data[i];
    } else {
      std::memcpy(&value, image.data.data() + 2 * i, 2);
    }
    wrong += value != (truth.sums[i] + half) >> (2 * level) ? 1 : 0;
  }
  return wrong;
}

inline void expect_true_pyramid(const Levels& pyramid, const TestFrame& frame) {
  for (int p = 0; p < pyramid.layout().plane_count; ++p) {
    const PlaneLayout& plane = pyramid.layout().planes[static_cast<std::size_t>(p)];
    TruthLevel truth = truth_base(frame, plane, p);
    for (int l = 0; l < plane.levels; ++l) {
      if (l > 0) truth = truth_above(truth, plane.channels);
      ASSERT_EQ(wrong_texels(pyramid, truth, p, l), 0U) << "plane " << p << " level " << l;
    }
  }
}

}  // namespace saccade::test
