// Room for emissions on a device, and a stream of the caller's whose work can be held up.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "tests/capi/handles.h"
#include "tests/support/required.h"

namespace saccade::test {

// Skips without a device, or fails when SACCADE_REQUIRE lists cuda.
class DeviceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (saccade_backend_check("cuda", 0) != SACCADE_OK) saccade::testing::skip_or_fail("cuda", saccade_last_error());
  }
};

inline void expect_cuda(cudaError_t code) { ASSERT_EQ(code, cudaSuccess) << cudaGetErrorString(code); }

// Device memory; given back when nothing uses it any more.
class DeviceBytes {
 public:
  explicit DeviceBytes(std::size_t size_bytes) : size_bytes_(size_bytes) {
    expect_cuda(cudaMalloc(&data_, size_bytes));
  }
  ~DeviceBytes() { static_cast<void>(cudaFree(data_)); }
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;

  template <typename T>
  T* as() const {
    return static_cast<T*>(data_);
  }
  std::size_t size_bytes() const { return size_bytes_; }
  void put(const void* from) const { expect_cuda(cudaMemcpy(data_, from, size_bytes_, cudaMemcpyHostToDevice)); }
  template <typename T>
  std::vector<T> values() const {
    std::vector<T> out(size_bytes_ / sizeof(T));
    expect_cuda(cudaMemcpy(out.data(), data_, size_bytes_, cudaMemcpyDeviceToHost));
    return out;
  }

 private:
  void* data_ = nullptr;
  std::size_t size_bytes_;
};

// The caller's stream. Its work stands still while it is held.
class CallerStream {
 public:
  CallerStream() { expect_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~CallerStream() {
    release();
    static_cast<void>(cudaStreamSynchronize(stream_));
    static_cast<void>(cudaStreamDestroy(stream_));
  }
  CallerStream(const CallerStream&) = delete;
  CallerStream& operator=(const CallerStream&) = delete;

  cudaStream_t get() const { return stream_; }
  void wait() const { expect_cuda(cudaStreamSynchronize(stream_)); }
  // What is queued from here on waits for release(), 20 s at most.
  void hold() {
    held_ = true;
    const auto stand = [](void* user) {
      const auto& held = *static_cast<std::atomic<bool>*>(user);
      for (int i = 0; i < 20'000 && held; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    };
    expect_cuda(cudaLaunchHostFunc(stream_, stand, &held_));
  }
  void release() { held_ = false; }
  // Holds what follows up for some milliseconds.
  void delay() {
    const auto stand = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(2)); };
    expect_cuda(cudaLaunchHostFunc(stream_, stand, nullptr));
  }

 private:
  cudaStream_t stream_ = nullptr;
  std::atomic<bool> held_{false};
};

struct DeviceRoom {
  explicit DeviceRoom(const saccade_geometry& shape, int dtype = SACCADE_U8, cudaStream_t stream = nullptr)
      : patches(HostRoom(shape, dtype).patches.size()),
        geometry(static_cast<std::size_t>(shape.patch_count) * 4 * sizeof(float)),
        changed(static_cast<std::size_t>(shape.patch_count)),
        damaged_tiles(sizeof(std::int32_t)) {
    target.memory = SACCADE_CUDA;
    target.patches = patches.as<void>();
    target.patches_bytes = patches.size_bytes();
    target.geometry = geometry.as<float>();
    target.changed = changed.as<std::uint8_t>();
    target.damaged_tiles = damaged_tiles.as<std::int32_t>();
    target.dtype = dtype;
    target.cuda_stream = stream;
  }

  DeviceBytes patches, geometry, changed, damaged_tiles;
  saccade_target target = sized<saccade_target>();
};

}  // namespace saccade::test
