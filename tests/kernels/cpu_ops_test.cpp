// Each vector operation against the plain one, bit for bit, on random and boundary-biased input, for every instruction
// set this machine has.
#include "kernels/cpu/ops.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "kernels/cpu/sample_math.h"

namespace saccade::test {
namespace {

class SimdOps : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override {
    hwy::SetSupportedTargetsForTest(GetParam());
    simd_ = simd_ops();
  }
  void TearDown() override {
    hwy::SetSupportedTargetsForTest(0);
    simd_ops();
  }
  const CpuOps& plain_ = plain_ops();
  CpuOps simd_;
};

enum class Fill { kRandom, kZeros, kOnes, kExtremes, kNear };
constexpr std::array kFills{Fill::kRandom, Fill::kZeros, Fill::kOnes, Fill::kExtremes, Fill::kNear};

std::vector<std::uint8_t> make_bytes(std::mt19937& rng, std::size_t n, Fill fill) {
  std::vector<std::uint8_t> bytes(n);
  std::uniform_int_distribution<int> any(0, 255);
  for (std::uint8_t& b : bytes) {
    const int value = any(rng);
    b = static_cast<std::uint8_t>(fill == Fill::kRandom     ? value
                                  : fill == Fill::kZeros    ? 0
                                  : fill == Fill::kOnes     ? 255
                                  : fill == Fill::kExtremes ? (value & 1) * 255
                                                            : 127 + value % 4);
  }
  return bytes;
}

// Widths around vector and tile edges, and odd ones.
constexpr std::array<std::size_t, 18> kLengths{1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 47, 63, 64, 65, 127, 129, 1000};

// Runs f(seed, rng, fill, n) over all lengths and fills.
template <typename F>
void for_each_row_case(F&& f) {
  unsigned seed = 0;
  for (const std::size_t n : kLengths) {
    for (const Fill fill : kFills) {
      ++seed;
      SCOPED_TRACE(fmt::format("seed {} n {} fill {}", seed, n, static_cast<int>(fill)));
      std::mt19937 rng(seed);
      f(rng, fill, n);
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST_P(SimdOps, Packing_EqualsPlain) {
  for_each_row_case([&](std::mt19937& rng, Fill fill, std::size_t n) {
    const std::size_t skew = rng() % 16;
    const auto cb = make_bytes(rng, 2 * n + skew, fill);
    const auto cr = make_bytes(rng, 2 * n + skew, Fill::kRandom);
    std::vector<std::uint8_t> a(4 * n + skew + 8, 7);
    std::vector<std::uint8_t> b = a;
    plain_.interleave8(cb.data() + skew, cr.data() + skew, a.data() + skew, n);
    simd_.interleave8(cb.data() + skew, cr.data() + skew, b.data() + skew, n);
    ASSERT_EQ(a, b) << "interleave8 skew " << skew;
    for (int shift = 0; shift < 8; ++shift) {
      const std::size_t even = skew & ~std::size_t{1};
      plain_.interleave16(cb.data() + even, cr.data() + even, a.data() + even, n, shift);
      simd_.interleave16(cb.data() + even, cr.data() + even, b.data() + even, n, shift);
      ASSERT_EQ(a, b) << "interleave16 shift " << shift << " skew " << even;
      plain_.shift16(cb.data() + even, a.data() + even, n, shift);
      simd_.shift16(cb.data() + even, b.data() + even, n, shift);
      ASSERT_EQ(a, b) << "shift16 shift " << shift << " skew " << even;
    }
  });
}

TEST_P(SimdOps, Marks_EqualPlain) {
  for_each_row_case([&](std::mt19937& rng, Fill fill, std::size_t n) {
    const std::size_t skew = rng() % 16 & ~std::size_t{1};
    const auto a = make_bytes(rng, 2 * n + skew, fill);
    auto b = rng() % 2 == 0 ? a : make_bytes(rng, 2 * n + skew, fill);
    b[rng() % b.size()] ^= 1;
    std::vector<std::uint8_t> plain(2 * n + 8, 1);
    std::vector<std::uint8_t> simd = plain;
    plain_.mark_unequal(a.data() + skew, b.data() + skew, plain.data(), n);
    simd_.mark_unequal(a.data() + skew, b.data() + skew, simd.data(), n);
    ASSERT_EQ(plain, simd) << "mark_unequal";
    for (const int threshold : {0, 1, 2, 3, 127, 254, 255, 256}) {
      plain_.count_over8(a.data() + skew, b.data() + skew, plain.data(), n, threshold);
      simd_.count_over8(a.data() + skew, b.data() + skew, simd.data(), n, threshold);
      ASSERT_EQ(plain, simd) << "count_over8 threshold " << threshold;
      plain_.count_over16(a.data() + skew, b.data() + skew, plain.data(), n, threshold * 256);
      simd_.count_over16(a.data() + skew, b.data() + skew, simd.data(), n, threshold * 256);
      ASSERT_EQ(plain, simd) << "count_over16 threshold " << threshold * 256;
    }
  });
}

TEST_P(SimdOps, Compare_EqualsPlain) {
  const auto compare = [&](std::mt19937& rng, Fill fill, std::size_t n) {
    const std::size_t skew = rng() % 16;
    const auto pitch = static_cast<std::ptrdiff_t>(n + 3);
    const auto a = make_bytes(rng, (n + 3) * 16 + skew, fill);
    auto b = a;
    for (auto changes = rng() % 5; changes > 0; --changes) b[rng() % b.size()] ^= static_cast<std::uint8_t>(rng());
    if (rng() % 3 == 0) b = make_bytes(rng, b.size(), Fill::kExtremes);
    for (const int rows : {1, 8, 15, 16}) {
      for (const int floor : {0, 1, 8, 254, 255, 256}) {
        std::vector<std::uint8_t> unequal[2];
        std::vector<std::uint32_t> energy[2];
        for (auto& entries : unequal) entries.assign(n / 16 + 2, 7);  // what lies behind the last column must stay
        for (auto& entries : energy) entries.assign(n / 16 + 2, 7);
        const std::uint8_t* bottom = a.data() + skew + pitch * (rows - 1);  // read upwards
        plain_.compare8(bottom, -pitch, b.data() + skew, pitch, n, rows, floor, unequal[0].data(), energy[0].data());
        simd_.compare8(bottom, -pitch, b.data() + skew, pitch, n, rows, floor, unequal[1].data(), energy[1].data());
        ASSERT_EQ(unequal[0], unequal[1]) << rows << " rows, floor " << floor;
        ASSERT_EQ(energy[0], energy[1]) << rows << " rows, floor " << floor;
      }
    }
  };
  for_each_row_case(compare);
  for (const std::size_t n :
       {2047U, 2048U, 2049U, 2064U, 4096U, 4131U, 7680U}) {  // wider than what is gathered at once
    SCOPED_TRACE(n);
    std::mt19937 rng(static_cast<unsigned>(n));
    for (const Fill fill : {Fill::kRandom, Fill::kNear}) compare(rng, fill, n);
  }
}

TEST_P(SimdOps, SumMarks_EqualsPlain) {
  for (const std::size_t tile_bytes : {16U, 32U, 64U}) {
    for (const std::size_t tiles : {1U, 2U, 3U, 17U}) {
      for (const Fill fill : kFills) {
        std::mt19937 rng(static_cast<unsigned>(tile_bytes + tiles));
        const auto marks = make_bytes(rng, tile_bytes * tiles, fill);
        std::vector<std::uint32_t> plain(tiles, 5);
        std::vector<std::uint32_t> simd = plain;
        plain_.sum_marks(marks.data(), tiles, tile_bytes, plain.data());
        simd_.sum_marks(marks.data(), tiles, tile_bytes, simd.data());
        ASSERT_EQ(plain, simd) << tile_bytes << " " << tiles << " fill " << static_cast<int>(fill);
      }
    }
  }
}

TEST_P(SimdOps, Energy_EqualsPlain) {
  unsigned seed = 0;
  for (const int width : {1, 2, 7, 8, 15, 16, 17, 33, 60, 64}) {
    for (const int height : {1, 2, 15, 16}) {
      for (const Fill fill : kFills) {
        std::mt19937 rng(++seed);
        const std::ptrdiff_t pitch = 2 * width + 6;
        const auto a = make_bytes(rng, static_cast<std::size_t>(pitch * 16), fill);
        const auto b = make_bytes(rng, static_cast<std::size_t>(pitch * 16), Fill::kExtremes);
        const std::uint8_t* bottom = a.data() + pitch * 15;  // read upwards
        for (const int floor : {0, 1, 8, 254, 255, 256}) {
          SCOPED_TRACE(
              fmt::format("seed {} {}x{} fill {} floor {}", seed, width, height, static_cast<int>(fill), floor));
          ASSERT_EQ(plain_.energy8(bottom, -pitch, b.data(), pitch, width, height, floor),
                    simd_.energy8(bottom, -pitch, b.data(), pitch, width, height, floor));
          ASSERT_EQ(plain_.energy16(bottom, -pitch, b.data(), pitch, width, height, floor * 256),
                    simd_.energy16(bottom, -pitch, b.data(), pitch, width, height, floor * 256));
        }
      }
    }
  }
}

// All sums, and what lies behind the last tile, which must stay.
std::vector<std::vector<int>> run_detail(void (*op)(const DetailRun& run, const DetailSums& out),
                                         const DetailRun& run) {
  const auto tiles = static_cast<std::size_t>(run.tiles);
  std::vector<std::vector<int>> out(9, std::vector<int>(tiles + 1, 7));
  for (std::size_t i = 5; i < 9; ++i) out[i].resize(2 * tiles + 1, 7);
  op(run, {out[0].data(),
           out[1].data(),
           out[2].data(),
           out[3].data(),
           out[4].data(),
           {out[5].data(), out[6].data()},
           {out[7].data(), out[8].data()}});
  for (const auto& sums : out) EXPECT_EQ(sums.back(), 7);
  return out;
}

TEST_P(SimdOps, TileDetail_EqualsPlain) {
  for (const int tiles : {1, 2, 3, 7, 8, 9, 15, 16, 17, 40}) {
    for (const Fill fill : kFills) {
      for (const int noise : {0, 1, 8, 254, 255, 256}) {
        SCOPED_TRACE(fmt::format("{} tiles fill {} noise {}", tiles, static_cast<int>(fill), noise));
        std::mt19937 rng(static_cast<unsigned>(tiles + noise));
        const std::size_t pitch = static_cast<std::size_t>(tiles) * 8 + 1, skew = rng() % 16;
        const std::size_t bytes = skew + 9 * pitch + 64;
        const auto now = make_bytes(rng, bytes, fill), seen = make_bytes(rng, bytes, Fill::kRandom);
        auto before = rng() % 2 == 0 ? now : make_bytes(rng, bytes, fill);
        before[rng() % bytes] ^= 32;
        const DetailRun run{.tiles = tiles,
                            .now = now.data() + skew,
                            .before = before.data() + skew,
                            .seen = seen.data() + skew,
                            .pitch = static_cast<std::ptrdiff_t>(pitch),
                            .noise = noise};
        EXPECT_EQ(run_detail(plain_.tile_detail, run), run_detail(simd_.tile_detail, run));
        if (HasFailure()) return;
      }
    }
  }
}

std::vector<std::uint32_t> run_errors(void (*op)(const ErrorRun& run, std::uint32_t* errors), const ErrorRun& run) {
  std::vector<std::uint32_t> errors(static_cast<std::size_t>(run.tiles) + 1, 7);
  op(run, errors.data());
  EXPECT_EQ(errors.back(), 7U);
  return errors;
}

TEST_P(SimdOps, TileErrors_EqualPlain) {
  for (const int tiles : {1, 2, 3, 4, 5, 17}) {
    for (const Fill fill : kFills) {
      for (const int noise : {0, 1, 8, 254, 255}) {
        std::mt19937 rng(static_cast<unsigned>(tiles + noise));
        const std::size_t pitch = static_cast<std::size_t>(tiles) * 16 + rng() % 3, skew = rng() % 16;
        const auto now = make_bytes(rng, skew + 16 * pitch + 64, fill);
        auto shown = make_bytes(rng, now.size(), rng() % 2 == 0 ? fill : Fill::kRandom);
        if (rng() % 2 == 0) shown = now;
        shown[rng() % shown.size()] ^= 32;
        for (int level = 0; level <= 4; ++level) {
          const ErrorRun run{.tiles = tiles,
                             .last_width = rng() % 2 == 0 ? 16 : 1 + static_cast<int>(rng() % 16),
                             .rows = rng() % 2 == 0 ? 16 : 1 + static_cast<int>(rng() % 16),
                             .now = now.data() + skew,
                             .pitch = static_cast<std::ptrdiff_t>(pitch),
                             .shown = shown.data() + skew,
                             .shown_pitch = static_cast<std::ptrdiff_t>(pitch >> level),
                             .level = level,
                             .power = 2 + static_cast<int>(rng() % 2),
                             .noise = noise};
          SCOPED_TRACE(fmt::format("{} tiles fill {} noise {} level {} power {} width {} rows {}", tiles,
                                   static_cast<int>(fill), noise, level, run.power, run.last_width, run.rows));
          EXPECT_EQ(run_errors(plain_.tile_errors, run), run_errors(simd_.tile_errors, run));
          if (HasFailure()) return;
        }
      }
    }
  }
}

// Differences up to a bound, around those up to which vectors add them up in another way.
TEST_P(SimdOps, TileErrorsOfBoundedDifferences_EqualPlain) {
  constexpr int kTiles = 9, kPitch = kTiles * 16;
  for (const int most : {1, 2, 15, 16, 181, 182, 255}) {
    for (int level = 0; level <= 4; ++level) {
      for (int power = 2; power <= 3; ++power) {
        std::mt19937 rng(static_cast<unsigned>(most * 10 + level));
        const auto shown = make_bytes(rng, std::size_t{16} * kPitch + 64, Fill::kZeros);
        auto now = make_bytes(rng, shown.size(), Fill::kRandom);
        // Another bound from tile to tile, and the bound itself somewhere.
        for (std::size_t at = 0; at < now.size(); ++at) {
          const int bound = at / 16 % 5 == 3 ? most : std::min(most, 15);
          now[at] = static_cast<std::uint8_t>(now[at] % 8 == 0 ? bound : now[at] % (bound + 1));
        }
        const ErrorRun run{.tiles = kTiles,
                           .now = now.data(),
                           .pitch = kPitch,
                           .shown = shown.data(),
                           .shown_pitch = kPitch >> level,
                           .level = level,
                           .power = power,
                           .noise = 1};
        EXPECT_EQ(run_errors(plain_.tile_errors, run), run_errors(simd_.tile_errors, run))
            << "most " << most << " level " << level << " power " << power;
      }
    }
  }
}

// By hand: a tile of 0 shown as 255 everywhere is the most that a sum holds.
TEST_P(SimdOps, LargestDifference_FitsTileErrors) {
  const std::vector<std::uint8_t> black(16 * 16 + 64, 0), white(16 * 16 + 64, 255);
  ErrorRun run{.now = black.data(), .pitch = 16, .shown = white.data(), .shown_pitch = 16, .noise = 254};
  for (const CpuOps& ops : {plain_, simd_}) {
    run.power = 3;
    EXPECT_EQ(run_errors(ops.tile_errors, run)[0], 4'244'832'000U);
    run.power = 2;
    EXPECT_EQ(run_errors(ops.tile_errors, run)[0], 16'646'400U);
  }
}

struct MipResult {
  std::array<std::vector<std::uint8_t>, 4> levels;
  std::array<std::uint32_t, 19 * 4> sums{};
};

MipResult run_mips(CpuOps::TileMipsFn op, const std::uint8_t* source, std::ptrdiff_t pitch, int tiles) {
  constexpr std::ptrdiff_t kPitch = 19 * 32 + 6;
  MipResult result;
  TileMips run;
  run.tiles = tiles;
  run.source = source;
  run.source_pitch = pitch;
  for (std::size_t l = 0; l < 4; ++l) {
    result.levels[l].assign(8 * kPitch, 0x5a);  // what lies beside the tiles must stay
    run.out[l] = result.levels[l].data();
    run.out_pitch[l] = kPitch;
  }
  op(run, result.sums.data());
  return result;
}

TEST_P(SimdOps, TileMips_EqualPlain) {
  for (int kind = 0; kind < kTexelKinds; ++kind) {
    for (unsigned seed = 0; seed < 60; ++seed) {
      std::mt19937 rng(seed);
      const int tiles = 1 + static_cast<int>(rng() % 19);
      SCOPED_TRACE(fmt::format("kind {} seed {} tiles {}", kind, seed, tiles));
      const std::ptrdiff_t pitch = 64 * 19 + 2 * static_cast<std::ptrdiff_t>(rng() % 5);
      const auto source = make_bytes(rng, static_cast<std::size_t>(pitch * 16 + 16), kFills[seed % kFills.size()]);
      const std::size_t skew = rng() % 8 * 2;
      const auto slot = static_cast<std::size_t>(kind);
      const MipResult plain = run_mips(plain_.tile_mips[slot], source.data() + skew, pitch, tiles);
      const MipResult simd = run_mips(simd_.tile_mips[slot], source.data() + skew, pitch, tiles);
      ASSERT_EQ(plain.sums, simd.sums);
      for (std::size_t l = 0; l < 4; ++l) ASSERT_EQ(plain.levels[l], simd.levels[l]) << "level " << l + 1;
    }
  }
}

// Levels of random texels in one buffer, in the shape the sampler reads.
struct RandomPlane {
  std::vector<std::uint8_t> bytes;
  std::vector<LevelView> levels;

  RandomPlane(std::mt19937& rng, int width, int height, int texel_bytes, int count, Fill fill) {
    std::vector<std::size_t> offsets;
    std::size_t total = 0;
    for (int l = 0; l < count; ++l) {
      offsets.push_back(total);
      levels.push_back({nullptr, (std::max(width >> l, 1) * texel_bytes + 63) / 64 * 64, std::max(width >> l, 1),
                        std::max(height >> l, 1)});
      total += static_cast<std::size_t>(levels.back().pitch_bytes * levels.back().height);
    }
    bytes = make_bytes(rng, total + 64, fill);
    for (std::size_t l = 0; l < levels.size(); ++l) levels[l].data = bytes.data() + offsets[l];
  }
};

Patch random_patch(std::mt19937& rng, int width, int height, int levels, int size) {
  std::uniform_real_distribution<float> u(-0.3f, 1.3f);
  std::uniform_real_distribution<float> lod(0.0f, static_cast<float>(levels - 1));
  Patch patch{u(rng) * static_cast<float>(width), u(rng) * static_cast<float>(height), lod(rng), 0.5f};
  const unsigned kind = rng() % 4;
  if (kind < 2) patch.lod = std::floor(patch.lod);
  if (kind == 0) {  // nested: samples on luma texels
    const float texel = std::exp2(patch.lod);
    patch.x_px = std::floor(patch.x_px / texel) * texel + (size % 2 == 0 ? 0.0f : texel / 2);
    patch.y_px = std::floor(patch.y_px / texel) * texel + (size % 2 == 0 ? 0.0f : texel / 2);
  }
  if (rng() % 12 == 0) patch.coverage = 0;
  if (rng() % 20 == 0) patch.x_px = rng() % 2 == 0 ? 1e8f : std::numeric_limits<float>::quiet_NaN();
  return patch;
}

TEST_P(SimdOps, SamplePatch_EqualsPlain) {
  for (unsigned seed = 0; seed < 400; ++seed) {
    std::mt19937 rng(seed);
    const bool rgba = rng() % 3 == 0;
    const bool wide = !rgba && rng() % 2 == 0;
    const int levels = 1 + static_cast<int>(rng() % 7);
    const int width = 64 << rng() % 3;
    const int height = 64 << rng() % 2;
    const Fill fill = kFills[rng() % kFills.size()];
    RandomPlane luma(rng, width, height, rgba ? 4 : wide ? 2 : 1, levels, fill);
    RandomPlane chroma(rng, width / 2, height / 2, wide ? 4 : 2, std::max(levels - 1, 1), Fill::kRandom);
    SampleSource source;
    source.luma = luma.levels;
    if (!rgba) source.chroma = chroma.levels;
    source.wide = wide;
    ColorSpec color;
    color.depth_bits = wide ? 10 : 8;
    color.matrix = static_cast<ColorMatrix>(rng() % 4);
    source.color = make_color_params(color, wide ? 65535.0f : 255.0f);
    source.site_shift_x = rng() % 2 == 0 ? 0.25f : 0.0f;
    source.site_shift_y = rng() % 3 == 0 ? 0.25f : 0.0f;
    const std::array sizes{16, 16, 1, 2, 7, 14, 66};
    const int size = sizes[rng() % sizes.size()];
    SampleFormat format;
    format.type = static_cast<SampleType>(rng() % 3);
    if (format.type != SampleType::kU8 && rng() % 2 == 0)
      format = {format.type, {0.48f, 0.45f, 0.41f}, {3.7f, 3.8f, 3.6f}};
    const Patch patch = random_patch(rng, width, height, levels, size);
    const std::size_t bytes = 3 * static_cast<std::size_t>(size * size) * size_bytes(format.type);
    std::vector<std::byte> plain(bytes + 64, std::byte{0x33});
    std::vector<std::byte> simd = plain;
    plain_.sample_patch(source, patch, size, format, plain.data());
    simd_.sample_patch(source, patch, size, format, simd.data());
    ASSERT_TRUE(plain == simd) << fmt::format("seed {} {} size {} type {} levels {} patch ({}, {}) lod {}", seed,
                                              rgba   ? "rgba"
                                              : wide ? "yuv16"
                                                     : "yuv8",
                                              size, name(format.type), levels, patch.x_px, patch.y_px, patch.lod);
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, SimdOps, testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         [](const auto& each) { return std::string(hwy::TargetName(each.param)); });

// Every half, and the middle between it and the next: _Float16-free truth by scaling with powers of two.
TEST(Half, AnyFloat_RoundsToNearestEven) {
  for (std::uint32_t h = 0; h < 0x7c00; ++h) {
    const auto value = [](std::uint32_t bits) {
      const auto exponent = static_cast<int>(bits >> 10);
      const auto fraction = static_cast<double>(bits & 0x3ff);
      return exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    };
    const double here = value(h);
    const double middle = (here + value(h + 1)) / 2;  // 0x7c00 as a number: 65536
    ASSERT_EQ(shared::half_from_float(static_cast<float>(here)), h);
    ASSERT_EQ(shared::half_from_float(-static_cast<float>(here)), h | 0x8000U);
    ASSERT_EQ(shared::half_from_float(static_cast<float>(middle)), h + (h & 1U)) << h;
    ASSERT_EQ(shared::half_from_float(std::nextafter(static_cast<float>(middle), 0.0f)), h);
    ASSERT_EQ(shared::half_from_float(std::nextafter(static_cast<float>(middle), 1e6f)), h + 1);
  }
  EXPECT_EQ(shared::half_from_float(1e30f), 0x7c00);
  EXPECT_EQ(shared::half_from_float(-std::numeric_limits<float>::infinity()), 0xfc00);
  EXPECT_EQ(shared::half_from_float(std::numeric_limits<float>::quiet_NaN()), 0x7fffU);  // as CUDA writes it
}

}  // namespace
}  // namespace saccade::test
