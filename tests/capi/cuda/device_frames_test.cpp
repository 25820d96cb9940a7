// Frames in the caller's device memory, CUDA graphs, and contexts that are the caller's own.
#include <cuda.h>
#include <gmock/gmock.h>

#include <random>

#include "tests/capi/cuda/device_room.h"

namespace saccade::test {
namespace {

constexpr int kWidth = 101, kHeight = 67;

class DeviceFrames : public DeviceTest {};

Settings settings(const char* backend) {
  return {{"backend", backend}, {"every", "frame"}, {"fixation", "center"}, {"lattice", "nested"}};
}

StreamHandle open_frames(const char* backend, int pixels, int memory) {
  StreamHandle stream = make_stream(settings(backend));
  auto format = sized<saccade_frame_format>();
  format.pixels = pixels;
  format.width_px = kWidth;
  format.height_px = kHeight;
  format.memory = memory;
  EXPECT_EQ(saccade_stream_open_frames(stream.get(), &format), SACCADE_OK) << saccade_last_error();
  return stream;
}

std::vector<std::uint8_t> noise(std::size_t size_bytes, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::uint8_t> bytes(size_bytes);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
  return bytes;
}

struct Format {
  int pixels;
  std::size_t size_bytes;
  std::vector<std::size_t> planes;  // where they begin
};

std::vector<Format> formats() {
  const std::size_t area = kWidth * kHeight, half = (kWidth + 1) / 2 * ((kHeight + 1) / 2);
  return {{SACCADE_PIXELS_RGB8, 3 * area, {0}},
          {SACCADE_PIXELS_BGR8, 3 * area, {0}},
          {SACCADE_PIXELS_RGB8_PLANAR, 3 * area, {0, area, 2 * area}},
          {SACCADE_PIXELS_RGBA8, 4 * area, {0}},
          {SACCADE_PIXELS_GRAY8, area, {0}},
          {SACCADE_PIXELS_I420, area + 2 * half, {0, area, area + half}},
          {SACCADE_PIXELS_NV12, area + 2 * half, {0, area}},
          {SACCADE_PIXELS_P010, 2 * (area + 2 * half), {0, 2 * area}}};
}

saccade_frame frame_at(const std::uint8_t* base, const Format& format, std::int64_t index, int memory,
                       cudaStream_t stream = nullptr) {
  auto frame = sized<saccade_frame>();
  for (std::size_t p = 0; p < format.planes.size(); ++p) frame.planes[p] = base + format.planes[p];
  frame.pts_ns = index * 40'000'000;
  frame.memory = memory;
  frame.cuda_stream = stream;
  return frame;
}

// The caller writes his memory over right after the push, in the order of his stream, and changes streams in between.
TEST_F(DeviceFrames, EveryPixelFormat_EqualsTheHosts) {
  for (const Format& format : formats()) {
    SCOPED_TRACE(format.pixels);
    const StreamHandle on_host = open_frames("cpu", format.pixels, SACCADE_HOST);
    const StreamHandle on_device = open_frames("cuda", format.pixels, SACCADE_CUDA);
    CallerStream streams[2];
    const DeviceBytes memory(format.size_bytes);
    for (int i = 0; i < 6; ++i) {
      CallerStream& caller = streams[i / 2 % 2];
      const auto bytes = noise(format.size_bytes, static_cast<unsigned>(i / 3));  // the same three times
      memory.put(bytes.data());
      const saccade_frame host = frame_at(bytes.data(), format, i, SACCADE_HOST);
      const saccade_frame device = frame_at(memory.as<std::uint8_t>(), format, i, SACCADE_CUDA, caller.get());
      ASSERT_EQ(saccade_stream_push(on_host.get(), &host, nullptr), SACCADE_OK) << saccade_last_error();
      caller.delay();
      std::int32_t due = 0;
      ASSERT_EQ(saccade_stream_push(on_device.get(), &device, &due), SACCADE_OK) << saccade_last_error();
      expect_cuda(cudaMemsetAsync(memory.as<void>(), 0x77, format.size_bytes, caller.get()));
      ASSERT_EQ(due, 1);
      DeviceRoom room(geometry_of(on_device), SACCADE_U8, caller.get());
      ASSERT_EQ(saccade_stream_next_into(on_device.get(), 0, &room.target, nullptr), SACCADE_OK)
          << saccade_last_error();
      caller.wait();
      const Taken wanted = take_next(on_host);
      ASSERT_EQ(room.patches.values<std::uint8_t>(), wanted.patches) << i;
      ASSERT_EQ(room.geometry.values<float>(), wanted.geometry) << i;
      ASSERT_EQ(room.damaged_tiles.values<std::int32_t>()[0], wanted.facts.damaged_tiles) << i;
    }
  }
}

TEST_F(DeviceFrames, ToTheHost_EqualsTheHosts) {
  const Format format = formats()[0];
  const StreamHandle on_host = open_frames("cpu", format.pixels, SACCADE_HOST);
  const StreamHandle on_device = open_frames("cuda", format.pixels, SACCADE_CUDA);
  const DeviceBytes memory(format.size_bytes);
  for (int i = 0; i < 4; ++i) {
    const auto bytes = noise(format.size_bytes, static_cast<unsigned>(i));
    memory.put(bytes.data());
    const saccade_frame host = frame_at(bytes.data(), format, i, SACCADE_HOST);
    const saccade_frame device = frame_at(memory.as<std::uint8_t>(), format, i, SACCADE_CUDA);
    ASSERT_EQ(saccade_stream_push(on_host.get(), &host, nullptr), SACCADE_OK);
    ASSERT_EQ(saccade_stream_push(on_device.get(), &device, nullptr), SACCADE_OK) << saccade_last_error();
    const Taken wanted = take_next(on_host), taken = take_next(on_device);
    EXPECT_EQ(taken.patches, wanted.patches) << i;
    EXPECT_EQ(taken.facts.damaged_tiles, wanted.facts.damaged_tiles) << i;
  }
}

TEST_F(DeviceFrames, HostMemoryCalledDevice_IsRefused) {
  const Format format = formats()[0];
  const StreamHandle stream = open_frames("cuda", format.pixels, SACCADE_CUDA);
  const auto bytes = noise(format.size_bytes, 1);
  const saccade_frame frame = frame_at(bytes.data(), format, 0, SACCADE_CUDA);
  EXPECT_EQ(saccade_stream_push(stream.get(), &frame, nullptr), SACCADE_ERROR_USAGE);
  EXPECT_THAT(saccade_last_error(), ::testing::HasSubstr("not on CUDA device 0"));
}

// Captured once; each replay takes what lies in the caller's memory then.
TEST_F(DeviceFrames, StepInAGraph_TakesWhatLiesInMemory) {
  for (const int pixels : {SACCADE_PIXELS_NV12, SACCADE_PIXELS_RGB8_PLANAR}) {
    SCOPED_TRACE(pixels);
    const Format format = formats()[static_cast<std::size_t>(pixels)];
    ASSERT_EQ(format.pixels, pixels);
    const StreamHandle on_host = open_frames("cpu", pixels, SACCADE_HOST);
    const StreamHandle on_device = open_frames("cuda", pixels, SACCADE_CUDA);
    const CallerStream caller;
    const DeviceBytes memory(format.size_bytes);
    DeviceRoom room(geometry_of(on_device), SACCADE_F32, caller.get());
    std::int64_t index = 0;
    const auto step = [&] {
      const saccade_frame frame = frame_at(memory.as<std::uint8_t>(), format, index++, SACCADE_CUDA, caller.get());
      ASSERT_EQ(saccade_stream_push(on_device.get(), &frame, nullptr), SACCADE_OK) << saccade_last_error();
      ASSERT_EQ(saccade_stream_next_into(on_device.get(), 0, &room.target, nullptr), SACCADE_OK)
          << saccade_last_error();
    };
    memory.put(noise(format.size_bytes, 1).data());
    for (int i = 0; i < 4; ++i) step();
    caller.wait();
    cudaGraph_t graph = nullptr;
    expect_cuda(cudaStreamBeginCapture(caller.get(), cudaStreamCaptureModeThreadLocal));
    step();
    expect_cuda(cudaStreamEndCapture(caller.get(), &graph));
    cudaGraphExec_t executable = nullptr;
    expect_cuda(cudaGraphInstantiate(&executable, graph, 0));
    for (unsigned seed = 2; seed < 6; ++seed) {
      const auto bytes = noise(format.size_bytes, seed);
      memory.put(bytes.data());
      expect_cuda(cudaGraphLaunch(executable, caller.get()));
      caller.wait();
      const saccade_frame frame = frame_at(bytes.data(), format, seed, SACCADE_HOST);
      ASSERT_EQ(saccade_stream_push(on_host.get(), &frame, nullptr), SACCADE_OK);
      HostRoom wanted(geometry_of(on_host), SACCADE_F32);
      ASSERT_EQ(saccade_stream_next_into(on_host.get(), 0, &wanted.target, nullptr), SACCADE_OK);
      ASSERT_EQ(room.patches.values<std::uint8_t>(), wanted.patches) << seed;
      EXPECT_THAT(room.changed.values<std::uint8_t>(), ::testing::Contains(1));
    }
    expect_cuda(cudaGraphLaunch(executable, caller.get()));  // the same picture once more
    caller.wait();
    EXPECT_THAT(room.changed.values<std::uint8_t>(), ::testing::Each(0));
    expect_cuda(cudaGraphExecDestroy(executable));
    expect_cuda(cudaGraphDestroy(graph));
  }
}

template <typename F>
F driver_function(const char* name, unsigned version = 12000) {
  void* address = nullptr;
  cudaDriverEntryPointQueryResult found{};
  EXPECT_EQ(cudaGetDriverEntryPointByVersion(name, &address, version, cudaEnableDefault, &found), cudaSuccess);
  return reinterpret_cast<F>(address);
}

// A context that the caller made for himself on the same device: it stays current, and the stream works in its own.
TEST_F(DeviceFrames, CallersOwnContext_StaysCurrent) {
  const Taken wanted = take_next(open_stream("test://box?size=64x64&frames=3", settings("cuda")));
  std::thread([&] {
    using Create = CUresult(CUDAAPI*)(CUcontext*, unsigned, CUdevice);
    using Current = CUresult(CUDAAPI*)(CUcontext*);
    using Destroy = CUresult(CUDAAPI*)(CUcontext);
    CUcontext own = nullptr, current = nullptr;
    ASSERT_EQ(driver_function<Create>("cuCtxCreate", 11000)(&own, 0, 0), CUDA_SUCCESS);
    {
      const StreamHandle stream = open_stream("test://box?size=64x64&frames=3", settings("cuda"));
      const Taken taken = take_next(stream);
      EXPECT_EQ(taken.patches, wanted.patches);
    }
    ASSERT_EQ(driver_function<Current>("cuCtxGetCurrent")(&current), CUDA_SUCCESS);
    EXPECT_EQ(current, own);
    EXPECT_EQ(driver_function<Destroy>("cuCtxDestroy")(own), CUDA_SUCCESS);
  }).join();
}

}  // namespace
}  // namespace saccade::test
