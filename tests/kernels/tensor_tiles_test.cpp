// Each vector operation on tiles against the plain one, bit for bit, on random and boundary-biased elements, for every
// instruction set this machine has.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <hwy/highway.h>

#include <cstring>
#include <random>
#include <vector>

#include "kernels/tensor/cpu/tile_ops.h"

namespace saccade::tensor::cpu {
namespace {

class TileOpsOnHost : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override {
    hwy::SetSupportedTargetsForTest(GetParam());
    ops_ = simd_tile_ops();
  }
  void TearDown() override {
    hwy::SetSupportedTargetsForTest(0);
    simd_tile_ops();
  }
  // call(plain, simd) for each type of elements.
  template <class Call>
  void for_each_type(const Call& call) const {
    std::apply([&]<class... T>(const TileOps<T>&... simd) { (call(plain_tile_ops<T>(), simd), ...); }, ops_);
  }
  AllTileOps ops_;
};

// Small numbers, so that some are equal; both zeros, infinities, numbers that are none, subnormal ones; any bits.
template <class T>
T random_element(std::mt19937& rng) {
  constexpr double kOdd[] = {0.0, -0.0, 1e-40, -1e-40, 5e-8, 65504, 1e39, -1e39, 3.4e38, -3.4e38};
  T element{};
  if (rng() % 4 == 0) {
    const std::uint64_t bits = std::uint64_t{rng()} << 32 | rng();
    std::memcpy(&element, &bits, sizeof(T));
  } else {
    const double value = rng() % 4 == 0 ? kOdd[rng() % std::size(kOdd)] : static_cast<double>(rng() % 8);
    store(static_cast<Value<T>>(value), &element);
  }
  return element;
}

template <class T>
std::vector<T> random_elements(std::mt19937& rng, std::size_t count) {
  std::vector<T> elements(count);
  for (T& element : elements) element = random_element<T>(rng);
  return elements;
}

template <class T>
bool same_memory(const std::vector<T>& a, const std::vector<T>& b) {
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

constexpr std::size_t kLengths[] = {0, 1, 2, 3, 7, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 129, 300};

TEST_P(TileOpsOnHost, Marks_EqualPlain) {
  for_each_type([]<class T>(const TileOps<T>& plain, const TileOps<T>& simd) {
    std::mt19937 rng(1);
    for (const std::size_t n : kLengths) {
      for (int rows = 1; rows <= 4; ++rows) {
        SCOPED_TRACE(fmt::format("{} bytes each, {} in {} rows", sizeof(T), n, rows));
        const auto a = random_elements<T>(rng, 4 * n + 1);
        auto b = a;
        for (int changes = 3; changes > 0; --changes) b[rng() % b.size()] = random_element<T>(rng);
        const T* const is[4] = {&a[0], &a[n], &a[2 * n], &a[3 * n]};
        const T* const was[4] = {&b[0], &b[n], &b[2 * n], &b[3 * n]};
        std::vector<std::uint8_t> marks[2];
        marks[0].assign(n * sizeof(T) + 8, 4);
        marks[1] = marks[0];
        plain.mark(is, was, rows, n, marks[0].data());
        simd.mark(is, was, rows, n, marks[1].data());
        ASSERT_EQ(marks[0], marks[1]);
      }
    }
  });
}

// Memory that ends with the last element that is asked for, so that a sanitizer sees reads beyond it.
TEST_P(TileOpsOnHost, PixelsApart_EqualPlain) {
  for_each_type([]<class T>(const TileOps<T>& plain, const TileOps<T>& simd) {
    std::mt19937 rng(2);
    for (const std::size_t n : kLengths) {
      for (int stride = 2; stride <= 4; ++stride) {
        for (int channels = 1; channels <= stride; ++channels) {
          SCOPED_TRACE(fmt::format("{} bytes each, {} of {} channels, {} apart", sizeof(T), n, channels, stride));
          const std::size_t last =
              n == 0 ? 0 : (n - 1) * static_cast<std::size_t>(stride) + static_cast<std::size_t>(channels);
          const auto in = random_elements<T>(rng, last);
          std::vector<T> out[2];
          for (int way = 0; way < 2; ++way) {
            out[way].resize(4 * n + 1);
            T* const rows[4] = {&out[way][0], &out[way][n], &out[way][2 * n], &out[way][3 * n]};
            (way == 0 ? plain : simd).split(in.data(), stride, channels, n, rows);
          }
          ASSERT_TRUE(same_memory(out[0], out[1]));

          auto before = out[0];
          for (int changes = 3; changes > 0; --changes) before[rng() % before.size()] = random_element<T>(rng);
          const T* const was[4] = {&before[0], &before[n], &before[2 * n], &before[3 * n]};
          std::vector<std::uint8_t> marks[2];
          marks[0].assign(n * sizeof(T) + 8, 4);
          marks[1] = marks[0];
          plain.mark_apart(in.data(), stride, channels, was, n, marks[0].data());
          simd.mark_apart(in.data(), stride, channels, was, n, marks[1].data());
          ASSERT_EQ(marks[0], marks[1]);
        }
      }
    }
  });
}

// A sum that is not a number has some bits of it.
template <class V>
bool same_sums(const V* a, const V* b) {
  for (int k = 0; k < 16; ++k) {
    if (!same_bits(a[k], b[k]) && (a[k] == a[k] || b[k] == b[k])) return false;
  }
  return true;
}

TEST_P(TileOpsOnHost, Differences_EqualPlain) {
  for_each_type([]<class T>(const TileOps<T>& plain, const TileOps<T>& simd) {
    std::mt19937 rng(3);
    for (int round = 0; round < 300; ++round) {
      const int rows = 1 + round % kTilePx;
      const int channels = 1 + round % 5;
      const double thresholds[] = {0, 0.5, 1, 2.5, 3, 254, 255, 256, 65535, 1e30};
      const double threshold = thresholds[rng() % std::size(thresholds)];
      SCOPED_TRACE(fmt::format("{} bytes each, {} channels, {} rows, over {}", sizeof(T), channels, rows, threshold));
      const auto pitch = static_cast<std::ptrdiff_t>(kTilePx + rng() % 3);
      TileSums<T> sums[2];
      for (int c = 0; c < channels; ++c) {
        const auto a = random_elements<T>(rng, static_cast<std::size_t>(pitch) * kTilePx);
        const auto b = rng() % 3 == 0 ? a : random_elements<T>(rng, a.size());
        plain.compare({a.data(), pitch}, {b.data(), pitch}, rows, static_cast<Value<T>>(threshold), &sums[0]);
        simd.compare({a.data(), pitch}, {b.data(), pitch}, rows, static_cast<Value<T>>(threshold), &sums[1]);
      }
      ASSERT_EQ(sums[0].over, sums[1].over);
      ASSERT_TRUE(same_sums(sums[0].quads, sums[1].quads));
    }
  });
}

// The most channels of bytes whose sums are exact.
TEST_P(TileOpsOnHost, ManyChannelsOfBytes_EqualPlain) {
  const std::vector<std::uint8_t> black(kTilePx * kTilePx), white(kTilePx * kTilePx, 255);
  TileSums<std::uint8_t> sums[2];
  for (int c = 0; c < kMostExactChannels; ++c) {
    for (int way = 0; way < 2; ++way) {
      const auto compare = way == 0 ? plain_tile_ops<std::uint8_t>().compare : std::get<0>(ops_).compare;
      compare({white.data(), kTilePx}, {black.data(), kTilePx}, kTilePx, 0, &sums[way]);
    }
  }
  EXPECT_EQ(sums[0].quads[0], 255.0f * 16 * kMostExactChannels);
  EXPECT_TRUE(same_sums(sums[0].quads, sums[1].quads));
}

INSTANTIATE_TEST_SUITE_P(Targets, TileOpsOnHost, testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         [](const auto& each) { return std::string(hwy::TargetName(each.param)); });

}  // namespace
}  // namespace saccade::tensor::cpu
