// Single points on the host, which are sampled a block at a time: each vector operation against the plain one for every
// instruction set this machine has, and samples and gradients against the text that the kernels share, bit for bit.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <hwy/highway.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "kernels/tensor/by_dtype.h"
#include "kernels/tensor/cpu/point_ops.h"
#include "kernels/tensor/sample_back.h"

namespace saccade::tensor::cpu {
namespace {

// Bits; a number that is none has some bits of it.
template <class V>
::testing::AssertionResult same_numbers(const V* a, const V* b, std::size_t count) {
  for (std::size_t k = 0; k < count; ++k) {
    if (!same_bits(a[k], b[k]) && (a[k] == a[k] || b[k] == b[k])) {
      return ::testing::AssertionFailure() << a[k] << " is not " << b[k] << ", number " << k;
    }
  }
  return ::testing::AssertionSuccess();
}

class PointOpsOnHost : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override {
    hwy::SetSupportedTargetsForTest(GetParam());
    ops_ = simd_point_ops();
  }
  void TearDown() override {
    hwy::SetSupportedTargetsForTest(0);
    simd_point_ops();
  }
  AllPointOps ops_;
};

// Places inside and around an axis, at texels' centres and edges, far away, and none.
template <class V>
V random_place(std::mt19937& rng, int extent) {
  const V odd[] = {V(0),     V(-0.0),     V(0.5), V(extent) - V(0.5), V(extent), V(-0.5), V(extent) + V(0.5), V(1e30),
                   V(-1e30), V(INFINITY), V(NAN), V(0.49999997)};
  if (rng() % 3 == 0) return odd[rng() % std::size(odd)];
  return static_cast<V>(rng() % 100000) * V(1e-5) * static_cast<V>(extent + 2) - V(1);
}

template <class V>
void compare_ops(const PointOps<V>& plain, const PointOps<V>& simd) {
  std::mt19937 rng(3);
  for (int round = 0; round < 200; ++round) {
    const int width = 1 + static_cast<int>(rng() % 9);
    const int height = rng() % 5 == 0 ? kMostTexelsOfAxis : 1 + static_cast<int>(rng() % 300);
    const int level = static_cast<int>(rng() % 4);
    const auto padding = static_cast<Padding>(rng() % 4);
    const bool nearest = rng() % 4 == 0;
    const PointGrid<V> grid{level_scale<V>(level),
                            width,
                            height,
                            round % 3 == 0 ? -3 : 1,
                            round % 2 == 0 ? 12 : 100,
                            {padding, nearest, width << level},
                            {padding, nearest, height << level}};
    SCOPED_TRACE(fmt::format("{} bytes, {}x{}, level {}, padding {}, nearest {}", sizeof(V), width, height, level,
                             static_cast<int>(padding), nearest));
    V x[kPoints];
    V y[kPoints];
    for (int i = 0; i < kPoints; ++i) {
      x[i] = random_place<V>(rng, width << level);
      y[i] = random_place<V>(rng, height << level);
    }
    PointTaps<V> taps[2];
    std::memset(taps, 0, sizeof taps);
    plain.taps(x, y, grid, &taps[0]);
    simd.taps(x, y, grid, &taps[1]);
    ASSERT_EQ(std::memcmp(taps[0].at, taps[1].at, sizeof taps[0].at), 0);
    ASSERT_EQ(std::memcmp(taps[0].inside, taps[1].inside, sizeof taps[0].inside), 0);
    ASSERT_TRUE(same_numbers(taps[1].wx, taps[0].wx, kPoints));
    ASSERT_TRUE(same_numbers(taps[1].wy, taps[0].wy, kPoints));

    PointTexels<V> texels[2];
    for (auto& corner : texels[0].at) {
      for (V& texel : corner) texel = rng() % 50 == 0 ? V(INFINITY) : static_cast<V>(rng() % 1000) - V(500.25);
    }
    texels[1] = texels[0];
    if (grid.zeros()) {
      plain.clear_outside(taps[0], &texels[0]);
      simd.clear_outside(taps[0], &texels[1]);
      ASSERT_TRUE(same_numbers(texels[1].at[0], texels[0].at[0], 4 * kPoints));
    }
    V values[2][kPoints];
    plain.blend(texels[0], taps[0], values[0]);
    simd.blend(texels[0], taps[0], values[1]);
    ASSERT_TRUE(same_numbers(values[1], values[0], kPoints));
    PointSlopes<V> slopes[2];
    plain.slopes(texels[0], taps[0], &slopes[0]);
    simd.slopes(texels[0], taps[0], &slopes[1]);
    ASSERT_TRUE(same_numbers(slopes[1].x, slopes[0].x, kPoints));
    ASSERT_TRUE(same_numbers(slopes[1].y, slopes[0].y, kPoints));
    PointTexels<V> weights[2];
    const bool all_count = plain.weights(taps[0], grid.zeros(), &weights[0]);
    ASSERT_EQ(simd.weights(taps[0], grid.zeros(), &weights[1]), all_count);
    ASSERT_TRUE(same_numbers(weights[1].at[0], weights[0].at[0], 4 * kPoints));
  }
}

TEST_P(PointOpsOnHost, Operations_EqualPlain) {
  compare_ops(plain_point_ops<float>(), std::get<0>(ops_));
  compare_ops(plain_point_ops<double>(), std::get<1>(ops_));
}

INSTANTIATE_TEST_SUITE_P(Targets, PointOpsOnHost, testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         [](const auto& each) { return std::string(hwy::TargetName(each.param)); });

struct Case {
  Dtype dtype, out, coordinates;
  int channels, levels, count;
  Padding padding;
  bool nearest, channels_last, spread_lods, snapped;
};

// Levels, places and memory of one sampling.
struct Sampling {
  template <class T>
  Sampling(const Case& of, T) {
    std::mt19937 rng(9);
    memory.reserve(static_cast<std::size_t>(of.levels) + 2);
    args.levels = of.levels;
    args.dtype = of.dtype;
    args.coordinates = of.coordinates;
    args.batch = 2;
    args.channels = of.channels;
    args.count = of.count;
    args.size = args.max_anisotropy = args.rotate = 1;
    args.padding = of.padding;
    args.nearest = of.nearest ? 1 : 0;
    args.scale = 0.5f;
    for (int level = 0; level < of.levels; ++level) {
      const int width = std::max(1, 37 >> level);
      const int height = std::max(1, 50 >> level);
      auto& texels = memory.emplace_back(static_cast<std::size_t>(2 * of.channels * width * height) * sizeof(T));
      for (std::size_t k = 0; k < texels.size() / sizeof(T); ++k) {
        const double value =
            std::is_integral_v<T> ? static_cast<double>(rng() % 200) : static_cast<double>(rng() % 2000) / 999 - 1;
        store(static_cast<Value<T>>(value), reinterpret_cast<T*>(texels.data()) + k);
      }
      const std::int64_t plane = std::int64_t{width} * height;
      args.level[level] = {texels.data(), plane * of.channels, plane, width, 1, width, height};
      if (of.channels_last)
        args.level[level] = {
            texels.data(), plane * of.channels, 1, std::int64_t{width} * of.channels, of.channels, width, height};
    }
    by_dtype(of.coordinates, [&]<class N>(N) { place<N>(of, rng); });
  }

  template <class N>
  void place(const Case& of, std::mt19937& rng) {
    auto& centers = memory.emplace_back(static_cast<std::size_t>(4 * of.count) * sizeof(N));
    auto& lods = memory.emplace_back(static_cast<std::size_t>(of.count) * sizeof(N));  // one for both images
    const auto number = [&](int extent) {
      const double odd[] = {0, 1, -0.25, 1.5, NAN, INFINITY, -INFINITY, 1e9};
      if (rng() % 20 == 0) return odd[rng() % std::size(odd)];
      if (of.snapped) return (static_cast<double>(rng() % static_cast<unsigned>(extent)) + 0.5) / extent;
      return static_cast<double>(rng() % 100000) / 99999;
    };
    for (int k = 0; k < 4 * of.count; ++k) {
      store(static_cast<Value<N>>(number(k % 2 == 0 ? 37 : 50)), reinterpret_cast<N*>(centers.data()) + k);
    }
    for (int k = 0; k < of.count; ++k) {
      const double odd[] = {NAN, -1, 100, 1, 2};
      double lod = of.spread_lods ? static_cast<double>(rng() % 400) / 100 - 0.5 : 0.0;
      if (of.spread_lods && rng() % 10 == 0) lod = odd[rng() % std::size(odd)];
      store(static_cast<Value<N>>(lod), reinterpret_cast<N*>(lods.data()) + k);
    }
    args.centers = {centers.data(), 2 * of.count, 2};
    args.lod = {lods.data(), 0, 1};
  }

  SampleArgs args = {};
  std::vector<std::vector<unsigned char>> memory;
};

// [B, C, N] or [B, N, C], as patches.
PatchArray points_of(void* data, Dtype dtype, const SampleArgs& args, bool by_channels) {
  const std::int64_t n = args.count;
  const std::int64_t c = args.channels;
  return {data, n * c, by_channels ? 1 : c, by_channels ? n : 1, 1, 1, dtype, 0};
}

struct Sums {
  Sums(const SampleArgs& args, std::size_t element) {
    for (int level = 0; level < args.levels; ++level) {
      const LevelArray& array = args.level[level];
      levels.emplace_back(static_cast<std::size_t>(2 * args.channels * array.width * array.height) * element);
      gradients.level[level] = levels.back().data();
    }
    for (auto* each : {&centers, &lod}) each->resize(static_cast<std::size_t>(2 * args.count) * 2 * 8);
    gradients.centers = centers.data();
    gradients.lod = lod.data();
  }
  SampleGradients gradients = {};
  std::vector<std::vector<unsigned char>> levels;
  std::vector<unsigned char> centers, lod;
};

template <class V>
struct Adds {
  const SampleGradients& gradients;
  bool wants(int level) const { return gradients.level[level] != nullptr; }
  void add(int level, std::int64_t at, V value) const { static_cast<V*>(gradients.level[level])[at] += value; }
};

const Case kCases[] = {{Dtype::kF32, Dtype::kF32, Dtype::kF32, 3, 1, 300, Padding::kBorder, false, false, false, false},
                       {Dtype::kF32, Dtype::kF32, Dtype::kF32, 3, 1, 128, Padding::kZeros, false, false, false, false},
                       {Dtype::kF32, Dtype::kF32, Dtype::kF32, 2, 1, 257, Padding::kBorder, false, true, false, true},
                       {Dtype::kF32, Dtype::kF16, Dtype::kF64, 5, 4, 1000, Padding::kMirror, false, false, true, false},
                       {Dtype::kF32, Dtype::kF32, Dtype::kF32, 1, 4, 700, Padding::kZeros, false, true, true, true},
                       {Dtype::kF64, Dtype::kF64, Dtype::kF64, 3, 4, 500, Padding::kWrap, false, false, true, false},
                       {Dtype::kF64, Dtype::kF32, Dtype::kF32, 2, 1, 130, Padding::kZeros, true, false, false, false},
                       {Dtype::kU8, Dtype::kF32, Dtype::kF32, 3, 3, 200, Padding::kBorder, false, true, true, false},
                       {Dtype::kF16, Dtype::kF16, Dtype::kF32, 4, 2, 150, Padding::kZeros, false, false, true, false},
                       {Dtype::kBf16, Dtype::kF32, Dtype::kF32, 3, 1, 1, Padding::kWrap, false, false, false, false},
                       {Dtype::kU16, Dtype::kU16, Dtype::kF64, 2, 4, 90, Padding::kMirror, true, false, false, false},
                       {Dtype::kF32, Dtype::kF32, Dtype::kF32, 3, 1, 300, Padding::kWrap, false, false, false, false},
                       {Dtype::kF32, Dtype::kF32, Dtype::kF32, 3, 1, 300, Padding::kMirror, false, false, false, false},
                       {Dtype::kF32, Dtype::kF16, Dtype::kF64, 5, 4, 1000, Padding::kBorder, true, false, true, false}};

TEST(Points, Samples_EqualTheDefinition) {
  for (const Case& of : kCases) {
    by_dtype(of.dtype, [&]<class T>(T element) {
      const Sampling sampling(of, element);
      for (const bool by_channels : {false, true}) {
        const std::size_t bytes = static_cast<std::size_t>(2 * of.count * of.channels) * element_bytes(of.out);
        std::vector<unsigned char> right(bytes), found(bytes, 77);
        SampleArgs args = sampling.args;
        args.patches = points_of(right.data(), of.out, args, by_channels);
        for (int k = 0; k < 2 * of.count; ++k) {
          const int n = k % of.count;
          const PatchFrame<Value<T>> patch = patch_at<Value<T>>(args, k / of.count, n);
          for (int c = 0; c < of.channels; ++c) sample_channels<T, 1>(args, patch, k / of.count, n, 0, 0, c);
        }
        args.patches.data = found.data();
        for (const int threads : {1, 3}) {
          std::fill(found.begin(), found.end(), static_cast<unsigned char>(77));
          sample(args, threads);
          EXPECT_EQ(found, right) << "case " << &of - kCases << ", by channels " << by_channels << ", " << threads;
        }
      }
    });
  }
}

TEST(Points, Gradients_EqualTheDefinition) {
  for (const Case& of : kCases) {
    by_dtype(of.dtype, [&]<class T>(T element) {
      using V = Value<T>;
      const Sampling sampling(of, element);
      std::mt19937 rng(4);
      std::vector<unsigned char> push(static_cast<std::size_t>(2 * of.count * of.channels) * element_bytes(of.out));
      by_dtype(of.out, [&]<class O>(O) {
        for (std::size_t k = 0; k < push.size() / sizeof(O); ++k) {
          store(static_cast<Value<O>>(rng() % 2000) / 999, reinterpret_cast<O*>(push.data()) + k);
        }
      });
      SampleArgs args = sampling.args;
      args.patches = points_of(push.data(), of.out, args, true);
      Sums right(args, sizeof(V));
      for (int b = 0; b < 2; ++b) {
        for (int n = 0; n < of.count; ++n) {
          PatchSums<V> sums = {};
          const PatchFrame<V> patch = patch_at<V>(args, b, n);
          sample_back<T, true>(args, Adds<V>{right.gradients}, patch, b, n, 0, 0, &sums);
          write_patch(args, right.gradients, patch, sums, b, n);
        }
      }
      for (const int threads : {1, 3}) {
        for (const bool with_lod : {true, false}) {
          SCOPED_TRACE(fmt::format("case {}, {} threads, gradient of lod {}", &of - kCases, threads, with_lod));
          Sums found(args, sizeof(V));
          if (!with_lod) found.gradients.lod = nullptr;
          // level 0 after the others, as for an image
          sample_backward(args, found.gradients, {1, kMostLevels - 1}, threads);
          SampleGradients rest = found.gradients;
          rest.centers = rest.lod = nullptr;
          sample_backward(args, rest, {0, 0}, threads);
          for (std::size_t level = 0; level < right.levels.size(); ++level) {
            EXPECT_TRUE(same_numbers(reinterpret_cast<const V*>(found.levels[level].data()),
                                     reinterpret_cast<const V*>(right.levels[level].data()),
                                     right.levels[level].size() / sizeof(V)))
                << "level " << level;
          }
          by_floating_dtype(of.coordinates, [&]<class N>(N) {
            const auto numbers = [](const std::vector<unsigned char>& of_bytes) {
              return reinterpret_cast<const Value<N>*>(of_bytes.data());
            };
            const auto count = static_cast<std::size_t>(2 * of.count);
            EXPECT_TRUE(same_numbers(numbers(found.centers), numbers(right.centers), 2 * count));
            if (!with_lod) return;
            EXPECT_TRUE(same_numbers(numbers(found.lod), numbers(right.lod), count));
          });
        }
      }
    });
  }
}

}  // namespace
}  // namespace saccade::tensor::cpu
