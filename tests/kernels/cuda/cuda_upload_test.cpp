// Uploads of frames in host memory: packed tiles, and pinned frames that are read in place, against the plain CPU
// backend; backend_suite.h has updates.
#include <fmt/format.h>

#include <array>

#include "tests/kernels/cuda/cuda_fixture.h"

namespace saccade::test {
namespace {

class CudaUpload : public CudaTest, public ::testing::WithParamInterface<PixelLayout> {
 protected:
  // one_in: the smaller, the more damage.
  void run(int width, int height, int levels, bool pinned, int one_in, bool staged, unsigned seed) {
    std::mt19937 rng(seed);
    const PixelLayout layout = GetParam();
    TestFrame frame(layout, width, height, usual_shift(layout), seed % 2 == 1);
    const PyramidLayout shape = make_pyramid_layout(width, height, texture_format(layout), levels);
    CpuPyramid cpu(shape, plain_ops());
    CpuTileDiffer differ(cpu, {});
    CudaTexture cuda(shape, {{}, staged, 0});
    frame.randomize(rng);
    for (int step = 0; step < 4; ++step) {
      const std::string what = fmt::format("{} {}x{} levels {} pinned {} staged {} seed {} step {}", name(layout),
                                           width, height, levels, pinned, staged, seed, step);
      if (step > 0) disturb(frame, rng, one_in);
      const PlacedFrame placed(frame.view(), PlacedFrame::Where::kPinned,
                               static_cast<Rows>((step + static_cast<int>(seed)) % 4));
      const FrameView& view = pinned ? placed.view() : frame.view();
      const Damage& damage = differ.diff(frame.view());
      const std::int64_t expected_bytes = cpu.upload(frame.view(), damage);
      cpu.refresh_mips(damage);
      EXPECT_EQ(cuda.upload(view, damage), expected_bytes) << what;
      cuda.refresh_mips(damage);
      expect_same_levels(cpu, cuda, what);
      if (HasFailure()) return;
    }
  }
};

TEST_P(CudaUpload, PackedTiles_EqualCpu) {
  unsigned seed = 0;
  for (const auto& [w, h, levels] :
       {std::array{1, 1, 7}, {17, 15, 7}, {161, 121, 7}, {64, 64, 7}, {130, 70, 9}, {640, 360, 7}}) {
    for (const int one_in : {1, 4, 30}) {
      run(w, h, levels, false, one_in, false, ++seed);
      if (HasFailure()) return;
    }
    run(w, h, levels, false, 5, true, ++seed);
  }
}

TEST_P(CudaUpload, PinnedFrames_EqualCpu) {
  unsigned seed = 50;
  for (const auto& [w, h, levels] : {std::array{1, 1, 7}, {17, 15, 7}, {161, 121, 7}, {640, 360, 8}}) {
    for (const int one_in : {1, 40}) {
      run(w, h, levels, true, one_in, false, ++seed);
      if (HasFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, CudaUpload, ::testing::ValuesIn(kLayouts),
                         [](const auto& test) { return std::string(name(test.param)); });

}  // namespace
}  // namespace saccade::test
