// Owners of one device among several: on any thread, made and destroyed in any order, with the thread's own device left
// as it was.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "gpu/cuda/device.h"
#include "gpu/cuda/stream.h"
#include "gpu/memory_use.h"
#include "tests/kernels/cuda/cuda_fixture.h"
#include "tests/support/required.h"

namespace saccade::test {
namespace {

int current_device() {
  int device = -1;
  EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
  return device;
}

// A sequence of noise on a texture of this device, frames on the device too, against the plain CPU operations.
void run_sequence(int device, unsigned seed, int steps) {
  std::mt19937 rng(seed);
  TestFrame frame(PixelLayout::kNv12, 333, 211);
  frame.randomize(rng);
  const PyramidLayout shape = make_pyramid_layout(333, 211, TextureFormat::kYuv8);
  CudaTexture cuda(shape, {{}, false, device});
  CpuPyramid cpu(shape, plain_ops());
  CpuTileDiffer differ(cpu, {});
  PatchPlan plan;
  for (int n = 0; n < 20; ++n)
    plan.patches.push_back({16.0f * static_cast<float>(n), 90, 0.2f * static_cast<float>(n), 1});
  PatchBatch expected(plan.count(), 16, {});
  PatchBatch actual = cuda.make_batch(plan.count(), 16, {});
  for (int step = 0; step < steps; ++step) {
    const std::string what = fmt::format("device {} seed {} step {}", device, seed, step);
    if (step > 0) disturb(frame, rng, 5);
    const PlacedFrame placed(frame.view(), PlacedFrame::Where::kDevice, Rows::kAligned, device);
    const Damage& damage = differ.diff(frame.view());
    cpu.upload(frame.view(), damage);
    cpu.refresh_mips(damage);
    cuda.update(placed.view());
    expect_same_damage(damage, cuda.damage(), what);
    expect_same_levels(cpu, cuda, what);
    cpu.sample(plan, {}, expected);
    cuda.submit(plan, {}, {}, actual);
    actual.wait();
    EXPECT_TRUE(std::ranges::equal(expected.bytes(), actual.bytes())) << what;
    if (::testing::Test::HasFailure()) return;
  }
}

class CudaDevices : public CudaTest {};

TEST_F(CudaDevices, SeveralTexturesAndThreads_EqualCpu) {
  std::vector<std::thread> threads;
  for (unsigned seed = 1; seed <= 4; ++seed) threads.emplace_back([seed] { run_sequence(0, seed, 8); });
  for (std::thread& thread : threads) thread.join();
}

TEST_F(CudaDevices, TexturesAndBatches_DieInAnyOrder) {
  const PyramidLayout shape = make_pyramid_layout(64, 64, TextureFormat::kYuv8);
  const TestFrame frame(PixelLayout::kNv12, 64, 64);
  PatchPlan plan;
  plan.patches = {{32, 32, 0, 1}};
  std::vector<std::unique_ptr<CudaTexture>> textures;
  std::vector<PatchBatch> batches;
  for (int n = 0; n < 3; ++n) {
    textures.push_back(std::make_unique<CudaTexture>(shape));
    textures.back()->update(frame.view());
    static_cast<void>(textures.back()->damage());
    batches.push_back(textures.back()->make_batch(1, 16, {}));
    textures.back()->submit(plan, {}, {}, batches.back());
  }
  textures.erase(textures.begin());                            // the first one made; its batch lives on
  std::thread([last = std::move(textures.back())] {}).join();  // and the last one dies on another thread
  textures.pop_back();
  for (const PatchBatch& batch : batches) batch.wait();
  textures.front()->update(frame.view());
  EXPECT_EQ(textures.front()->damage().count(), 0);
}

// One batch's memory is kept for the next one of that size; more of them, and other sizes, are freed.
TEST_F(CudaDevices, BatchesThatGo_LeaveTheirMemory) {
  const std::int64_t before = memory_use().pinned_bytes;
  const SampleFormat format;
  const auto bytes = static_cast<std::int64_t>(PatchBatch::bytes_of(10, 16, format));
  CudaTextureConfig keeps_one;
  keeps_one.kept_batches = 1;
  std::optional<PatchBatch> last;
  {
    CudaTexture texture(make_pyramid_layout(64, 64, TextureFormat::kYuv8), keeps_one);
    const std::int64_t own = memory_use().pinned_bytes;
    const std::byte* first = texture.make_batch(10, 16, format).bytes().data();
    EXPECT_EQ(memory_use().pinned_bytes, own + bytes);
    {
      PatchBatch again = texture.make_batch(10, 16, format);
      EXPECT_EQ(again.bytes().data(), first);
      static_cast<void>(texture.make_batch(10, 16, format));
      static_cast<void>(texture.make_batch(11, 16, format));
      EXPECT_EQ(memory_use().pinned_bytes, own + 2 * bytes);
    }
    EXPECT_EQ(memory_use().pinned_bytes, own + bytes);
    last.emplace(texture.make_batch(10, 16, format));
  }
  EXPECT_EQ(memory_use().pinned_bytes, before + bytes);  // it outlives the texture
  last.reset();
  EXPECT_EQ(memory_use().pinned_bytes, before);
}

TEST_F(CudaDevices, AFrameOfAnotherDevice_IsRefused) {
  const TestFrame frame(PixelLayout::kNv12, 64, 64);
  CudaTexture texture(make_pyramid_layout(64, 64, TextureFormat::kYuv8));
  const PlacedFrame placed(frame.view(), PlacedFrame::Where::kDevice, Rows::kAligned);
  FrameView elsewhere = placed.view();
  elsewhere.device = 1;
  EXPECT_THROW(texture.update(elsewhere), std::invalid_argument);
  EXPECT_NO_THROW(texture.update(placed.view()));
}

TEST_F(CudaDevices, AFramesOwnStream_IsWaitedFor) {
  TestFrame frame(PixelLayout::kNv12, 640, 360);
  std::mt19937 rng(8);
  const PyramidLayout shape = make_pyramid_layout(640, 360, TextureFormat::kYuv8);
  CudaTexture cuda(shape);
  const CudaStream stream(0);
  for (int step = 0; step < 20; ++step) {
    frame.randomize(rng);
    const PlacedFrame fresh(frame.view(), PlacedFrame::Where::kDevice, Rows::kAligned);
    FrameView shown = fresh.view();
    const CudaBuffer late(0, std::size_t{1} << 26);
    const auto bytes = static_cast<std::size_t>(shown.planes[0].pitch_bytes) * 360;
    const CudaBuffer luma(0, bytes);
    // Something long first, so that the frame comes when the texture's own stream has long been idle.
    cuda_check(cudaMemsetAsync(late.data(), step, late.size_bytes(), stream.get()), "cudaMemsetAsync");
    cuda_check(cudaMemcpyAsync(luma.data(), shown.planes[0].data, bytes, cudaMemcpyDeviceToDevice, stream.get()),
               "cudaMemcpyAsync");
    shown.planes[0].data = luma.data();
    shown.stream = stream.get();
    cuda.update(shown);
    static_cast<void>(cuda.damage());
    LevelImage image;
    cuda.read_level(0, 0, image);
    for (int y = 0; y < 360; y += 37) {
      ASSERT_EQ(image.data[static_cast<std::size_t>(y * image.width + 5)], frame.get(0, 5, y, 0)) << step << " " << y;
    }
  }
}

class TwoCudaDevices : public CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    const std::size_t count = query_cuda().devices.size();
    if (count < 2) testing::skip_or_fail("cuda2", fmt::format("{} CUDA device", count));
  }
};

TEST_F(TwoCudaDevices, AGuard_LeavesTheThreadsDevice) {
  ASSERT_EQ(current_device(), 0);
  {
    const CudaDeviceGuard guard(1);
    EXPECT_EQ(current_device(), 1);
    {
      const CudaDeviceGuard inner(0);
      EXPECT_EQ(current_device(), 0);
    }
    EXPECT_EQ(current_device(), 1);
  }
  EXPECT_EQ(current_device(), 0);
}

TEST_F(TwoCudaDevices, TheSecond_EqualsCpu) {
  run_sequence(1, 11, 8);
  EXPECT_EQ(current_device(), 0);
}

TEST_F(TwoCudaDevices, BothAtOnce_EqualCpu) {
  std::thread first([] { run_sequence(0, 21, 12); });
  std::thread second([] { run_sequence(1, 22, 12); });
  run_sequence(1, 23, 6);
  run_sequence(0, 24, 6);
  first.join();
  second.join();
}

TEST_F(TwoCudaDevices, TexturesOfBoth_DieInAnyOrder) {
  const PyramidLayout shape = make_pyramid_layout(64, 64, TextureFormat::kYuv8);
  const TestFrame frame(PixelLayout::kNv12, 64, 64);
  auto on_first = std::make_unique<CudaTexture>(shape);
  auto on_second = std::make_unique<CudaTexture>(shape, CudaTextureConfig{{}, false, 1});
  for (CudaTexture* texture : {on_first.get(), on_second.get(), on_first.get(), on_second.get()}) {
    texture->update(frame.view());
    static_cast<void>(texture->damage());
  }
  on_first.reset();
  on_second->update(frame.view());
  EXPECT_EQ(on_second->damage().count(), 0);
  on_first = std::make_unique<CudaTexture>(shape);
  on_second.reset();
  on_first->update(frame.view());
  EXPECT_TRUE(on_first->damage().all());
  EXPECT_EQ(current_device(), 0);
}

}  // namespace
}  // namespace saccade::test
