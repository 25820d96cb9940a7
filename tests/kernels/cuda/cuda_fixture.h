// What the CUDA tests share: the device or a reason to skip, frames on it, comparison with the CPU backend.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>

#include "gpu/cuda/buffer.h"
#include "gpu/cuda/error.h"
#include "kernels/cpu/differ.h"
#include "kernels/cpu/pyramid.h"
#include "kernels/cuda/texture.h"
#include "tests/kernels/comparison.h"
#include "tests/kernels/test_frame.h"

namespace saccade::test {

std::string why_no_cuda_device();  // empty: there is one

// Skips without a device, or fails when SACCADE_REQUIRE lists cuda.
class CudaTest : public ::testing::Test {
 protected:
  void SetUp() override;
};

// Pitches: multiples of 256 bytes; of 4 and not of 16; none at all, so odd ones; multiples of 256, last row first.
enum class Rows : std::uint8_t { kAligned, kWords, kPacked, kBottomUp };

// A copy of a host frame in device or page-locked memory.
class PlacedFrame {
 public:
  enum class Where : std::uint8_t { kDevice, kPinned };
  PlacedFrame(const FrameView& frame, Where where, Rows rows, int device = 0);
  const FrameView& view() const { return view_; }

 private:
  CudaBuffer device_;
  PinnedBuffer pinned_;
  FrameView view_;
};

}  // namespace saccade::test
