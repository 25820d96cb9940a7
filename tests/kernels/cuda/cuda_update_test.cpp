// An upload of known damage against the plain CPU backend, bit for bit, on random damage; backend_suite.h has the rest.
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

// The levels in the same launch as level 0, after a diff by itself. The first frame is all damage, one in the middle
// changes nothing.
void run_sequence(PixelLayout layout, const Case& c, unsigned seed) {
  std::mt19937 rng(seed);
  TestFrame frame(layout, c.width, c.height, usual_shift(layout));
  const PyramidLayout shape = make_pyramid_layout(c.width, c.height, texture_format(layout), c.levels);
  CpuPyramid cpu(shape, plain_ops());
  CpuTileDiffer cpu_differ(cpu, {});
  CudaTexture cuda(shape);
  frame.randomize(rng);
  for (int step = 0; step < 5; ++step) {
    const std::string what =
        fmt::format("{} {}x{} levels {} seed {} step {}", name(layout), c.width, c.height, c.levels, seed, step);
    if (step != 0 && step != 3) disturb(frame, rng, step == 2 ? 2 : 6);
    const PlacedFrame placed(frame.view(), PlacedFrame::Where::kDevice, Rows::kAligned);
    const Damage& expected = cpu_differ.diff(frame.view());
    const std::int64_t cpu_bytes = cpu.upload(frame.view(), expected);
    cpu.refresh_mips(expected);
    const Damage& damage = cuda.diff(placed.view());
    expect_same_damage(expected, damage, what);
    EXPECT_EQ(cpu_bytes, cuda.upload(placed.view(), damage)) << what;
    cuda.refresh_mips(damage);
    expect_same_levels(cpu, cuda, what);
    if (::testing::Test::HasFailure()) return;
  }
}

class CudaUpdate : public CudaTest, public ::testing::WithParamInterface<PixelLayout> {};

TEST_P(CudaUpdate, UploadInOneLaunch_EqualsCpu) {
  unsigned seed = 200;
  for (const Case& c : kCases) {
    run_sequence(GetParam(), c, ++seed);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, CudaUpdate, ::testing::ValuesIn(kLayouts),
                         [](const auto& test) { return std::string(name(test.param)); });

class CudaCall : public CudaTest {};

TEST_F(CudaCall, Failed_SaysWhatAndWhatToTry) {
  try {
    const CudaBuffer huge(0, std::size_t{1} << 50);
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
