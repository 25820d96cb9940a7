// What the CUDA tests share: the card or a reason to skip, frames on the card, comparison with the CPU backend.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>

#include "gpu/cuda/buffer.h"
#include "kernels/cpu/pyramid.h"
#include "kernels/cpu/tile_differ.h"
#include "kernels/cuda/pyramid.h"
#include "kernels/cuda/tile_differ.h"
#include "tests/kernels/test_frame.h"

namespace saccade::test {

// Skips without a card, or fails when SACCADE_REQUIRE lists cuda.
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
  PlacedFrame(const FrameView& frame, Where where, Rows rows);
  const FrameView& view() const { return view_; }

 private:
  CudaBuffer device_;
  PinnedBuffer pinned_;
  FrameView view_;
};

// Rewrites about one tile in `one_in` with noise, and changes single samples by 1 to 12 codes in as many others.
void disturb(TestFrame& frame, std::mt19937& rng, int one_in);

void expect_same_damage(const Damage& cpu, const Damage& cuda, const std::string& what);
void expect_same_levels(const Pyramid& cpu, const Pyramid& cuda, const std::string& what);

}  // namespace saccade::test
