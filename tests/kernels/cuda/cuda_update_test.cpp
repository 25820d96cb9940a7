// The fused update and the staged form against the plain CPU backend, bit for bit, on random damage sequences.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "gpu/cuda/error.h"
#include "tests/kernels/cuda/cuda_fixture.h"

namespace saccade::test {
namespace {

struct Case {
  int width;
  int height;
  int levels;
};

constexpr Case kCases[] = {{1, 1, 7},     {2, 2, 7},   {15, 17, 7},   {16, 16, 7},   {17, 33, 7},
                           {64, 64, 7},   {65, 63, 7}, {161, 121, 7}, {130, 250, 7}, {320, 180, 1},
                           {97, 81, 2},   {97, 81, 3}, {97, 81, 4},   {97, 81, 5},   {97, 81, 6},
                           {161, 121, 8}, {70, 40, 9}, {500, 300, 8}, {33, 65, 10}};

constexpr DiffConfig kConfigs[] = {{0, 0, 8}, {0, 0, 0}, {3, 0, 8}, {0, 5, 2}, {8, 12, 8}, {256, 0, 0}, {1, 0, 255}};

enum class Form { kFused, kStaged, kOneLaunchUpload };

// Both backends run the same sequence; the first frame is all damage, one in the middle changes nothing.
void run_sequence(PixelLayout layout, const Case& c, Form form, Rows rows, const DiffConfig& config, unsigned seed) {
  std::mt19937 rng(seed);
  TestFrame frame(layout, c.width, c.height, usual_shift(layout));
  const PyramidLayout shape = make_pyramid_layout(c.width, c.height, texture_format(layout), c.levels);
  CpuPyramid cpu(shape, plain_ops());
  CpuTileDiffer cpu_differ(cpu, config);
  CudaPyramid cuda(shape);
  cuda.set_staged(form == Form::kStaged);
  CudaTileDiffer cuda_differ(cuda, config);
  frame.randomize(rng);
  for (int step = 0; step < 5; ++step) {
    const std::string what = fmt::format("{} {}x{} levels {} form {} rows {} threshold {} min {} seed {} step {}",
                                         name(layout), c.width, c.height, c.levels, static_cast<int>(form),
                                         static_cast<int>(rows), config.threshold, config.min_pixels, seed, step);
    if (step != 0 && step != 3) disturb(frame, rng, step == 2 ? 2 : 6);
    const PlacedFrame placed(frame.view(), PlacedFrame::Where::kDevice, rows);
    const Damage& expected = cpu_differ.diff(frame.view());
    const std::int64_t cpu_bytes = cpu.upload(frame.view(), expected);
    cpu.refresh_mips(expected);
    std::int64_t cuda_bytes = 0;
    if (form == Form::kFused) {
      cuda.update_async(placed.view(), config, step == 0);
      const Damage& damage = cuda.finish_update();
      expect_same_damage(expected, damage, what);
      cuda_bytes = CudaPyramid::bytes_of(damage, shape);
    } else {
      const Damage& damage = cuda_differ.diff(placed.view());
      expect_same_damage(expected, damage, what);
      cuda_bytes = cuda.upload(placed.view(), damage);
      cuda.refresh_mips(damage);
    }
    EXPECT_EQ(cpu_bytes, cuda_bytes) << what;
    expect_same_levels(cpu, cuda, what);
    if (::testing::Test::HasFailure()) return;
  }
}

class CudaUpdate : public CudaTest, public ::testing::WithParamInterface<PixelLayout> {};

TEST_P(CudaUpdate, FusedEqualsCpu) {
  unsigned seed = 100;
  for (const Case& c : kCases) {
    for (const Rows rows : {Rows::kAligned, Rows::kWords, Rows::kPacked, Rows::kBottomUp}) {
      run_sequence(GetParam(), c, Form::kFused, rows, {}, ++seed);
      if (HasFailure()) return;
    }
  }
}

TEST_P(CudaUpdate, StagedEqualsCpu) {
  unsigned seed = 200;
  for (const Case& c : kCases) {
    ++seed;
    run_sequence(GetParam(), c, Form::kStaged, static_cast<Rows>(seed / 2 % 4), {}, seed);
    run_sequence(GetParam(), c, Form::kOneLaunchUpload, Rows::kAligned, {}, ++seed);
    if (HasFailure()) return;
  }
}

TEST_P(CudaUpdate, EveryConfigEqualsCpu) {
  unsigned seed = 300;
  for (const DiffConfig& config : kConfigs) {
    for (const Case& c : {Case{161, 121, 7}, Case{64, 48, 7}, Case{19, 5, 7}}) {
      run_sequence(GetParam(), c, Form::kFused, Rows::kAligned, config, ++seed);
      run_sequence(GetParam(), c, Form::kStaged, Rows::kAligned, config, ++seed);
      if (HasFailure()) return;
    }
  }
}

TEST_P(CudaUpdate, LargeFramesEqualCpu) {
  run_sequence(GetParam(), {1920, 1080, 7}, Form::kFused, Rows::kAligned, {}, 7);
  run_sequence(GetParam(), {638, 358, 11}, Form::kFused, Rows::kPacked, {2, 1, 8}, 8);
}

INSTANTIATE_TEST_SUITE_P(Layouts, CudaUpdate, ::testing::ValuesIn(kLayouts),
                         [](const auto& test) { return std::string(name(test.param)); });

class CudaTexture : public CudaTest {};

// By hand: one sample of 255 in a black 64x64 frame. Its mean over 4^l texels is 255 / 4^l, rounded half up.
TEST_F(CudaTexture, OneBrightSampleByArithmetic) {
  TestFrame frame(PixelLayout::kNv12, 64, 64);
  frame.for_each_sample([&](int p, int x, int y, int c) { frame.set(p, x, y, c, 0); });
  CudaPyramid cuda(make_pyramid_layout(64, 64, TextureFormat::kYuv8));
  const PlacedFrame black(frame.view(), PlacedFrame::Where::kDevice, Rows::kAligned);
  cuda.update_async(black.view(), {}, true);
  EXPECT_TRUE(cuda.finish_update().all());
  frame.set(0, 37, 20, 0, 255);
  const PlacedFrame lit(frame.view(), PlacedFrame::Where::kDevice, Rows::kAligned);
  cuda.update_async(lit.view(), {}, false);
  const Damage& damage = cuda.finish_update();
  EXPECT_EQ(damage.count(), 1);
  EXPECT_TRUE(damage.test(2, 1));
  EXPECT_EQ(damage.energy()[6], 255U - 8U);
  constexpr int kExpected[] = {255, 64, 16, 4, 1, 0, 0};
  LevelImage image;
  for (int l = 0; l < 7; ++l) {
    cuda.read_level(0, l, image);
    EXPECT_EQ(image.data[static_cast<std::size_t>((20 >> l) * image.width + (37 >> l))], kExpected[l]) << "level " << l;
    int lit_texels = 0;
    for (const std::uint8_t v : image.data) lit_texels += v != 0 ? 1 : 0;
    EXPECT_EQ(lit_texels, kExpected[l] != 0 ? 1 : 0) << "level " << l;
  }
}

TEST_F(CudaTexture, StartsAsZeros) {
  const CudaPyramid cuda(make_pyramid_layout(100, 50, TextureFormat::kYuv16, 8));
  LevelImage image;
  for (int l = 0; l < 8; ++l) {
    cuda.read_level(0, l, image);
    EXPECT_TRUE(std::ranges::all_of(image.data, [](std::uint8_t v) { return v == 0; }));
  }
  EXPECT_THROW(cuda.read_level(0, 8, image), std::out_of_range);
  EXPECT_THROW(cuda.read_level(2, 0, image), std::out_of_range);
}

TEST_F(CudaTexture, RefusesWhatDoesNotFit) {
  CudaPyramid cuda(make_pyramid_layout(64, 64, TextureFormat::kYuv8));
  const TestFrame small(PixelLayout::kNv12, 32, 64);
  const TestFrame deep(PixelLayout::kP016, 64, 64);
  EXPECT_THROW(cuda.update_async(small.view(), {}, true), std::invalid_argument);
  EXPECT_THROW(cuda.update_async(deep.view(), {}, true), std::invalid_argument);
  EXPECT_THROW(cuda.refresh_mips(Damage(TileGrid{3, 3})), std::invalid_argument);
}

TEST_F(CudaTexture, FailedCallsSayWhatAndWhatToTry) {
  try {
    const CudaBuffer huge(std::size_t{1} << 50);
    FAIL() << "a petabyte was allocated";
  } catch (const CudaError& error) {
    EXPECT_EQ(error.code(), cudaErrorMemoryAllocation);
    EXPECT_NE(std::string(error.what()).find("cudaMalloc of 1125899906842624 bytes"), std::string::npos)
        << error.what();
    EXPECT_NE(std::string(error.what()).find("out of memory"), std::string::npos) << error.what();
  }
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

}  // namespace
}  // namespace saccade::test
