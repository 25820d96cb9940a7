// Backend cpu through the suite: with the plain operations, and with this machine's vector code.
#include "kernels/cpu/texture.h"
#include "tests/kernels/backend_suite_held.h"
#include "tests/kernels/backend_suite_sample.h"
#include "tests/kernels/backend_suite_update.h"

namespace saccade::test {
namespace {

SuiteBackend cpu(const char* name, const CpuOps& ops) {
  SuiteBackend backend;
  backend.name = name;
  backend.make = [ops](const PyramidLayout& layout, const DiffConfig& diff, bool staged) {
    return std::make_unique<CpuTexture>(layout, diff, staged, ops);
  };
  return backend;
}

INSTANTIATE_TEST_SUITE_P(Cpu, BackendSuite, ::testing::Values(cpu("Plain", plain_ops()), cpu("Simd", simd_ops())),
                         instance_name);

TEST(CpuTexture, FramesOnAGpuAndOfOtherKinds_AreRefused) {
  CpuTexture texture(make_pyramid_layout(50, 40, TextureFormat::kYuv8));
  const TestFrame frame(PixelLayout::kI420, 50, 40);
  FrameView on_gpu = frame.view();
  on_gpu.space = MemorySpace::kCuda;
  EXPECT_THROW(texture.update(on_gpu), std::invalid_argument);
  CpuPyramid levels(texture.layout());
  const Damage damage(levels.layout().tiles);
  const TestFrame other_size(PixelLayout::kI420, 50, 39), other_format(PixelLayout::kRgba8, 50, 40);
  for (const FrameView& wrong : {on_gpu, other_size.view(), other_format.view()})
    EXPECT_THROW(levels.upload(wrong, damage), std::invalid_argument);
}

// Against the definition, not against other code of ours.
TEST(CpuTexture, FourK_DamageIsWhereItWasDone) {
  std::mt19937 rng(4);
  TestFrame frame(PixelLayout::kNv12, 4096, 2160);
  frame.randomize(rng);
  CpuTexture texture(make_pyramid_layout(4096, 2160, TextureFormat::kYuv8));
  texture.update(frame.view());
  EXPECT_TRUE(texture.damage().all());
  frame.randomize(rng, 4000, 2100, 4096, 2160);
  frame.set(0, 2048, 700, 0, frame.get(0, 2048, 700, 0) ^ 1);
  texture.update(frame.view());
  const Damage& damage = texture.damage();
  EXPECT_EQ(damage.count(), 6 * 4 + 1);  // tiles 250 to 255 of rows 131 to 134, and one
  EXPECT_TRUE(damage.test(128, 43));
  expect_true_pyramid(texture, frame);
}

}  // namespace
}  // namespace saccade::test
