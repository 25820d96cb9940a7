// What every backend must do, as one suite: a test program says how its textures are made and where its frames lie, and
// includes backend_suite_update.h, backend_suite_sample.h and backend_suite_held.h once. A new backend is tested by
// instances of it.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <any>
#include <array>
#include <functional>
#include <memory>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "kernels/cpu/differ.h"
#include "kernels/cpu/pyramid.h"
#include "kernels/texture.h"
#include "tests/kernels/comparison.h"
#include "tests/kernels/pyramid_truth.h"
#include "tests/kernels/test_frame.h"
#include "tests/support/required.h"

namespace saccade::test {

// How far samples may be from the plain CPU sampler's; 0: not at all. In codes (u8) and in values.
struct SampleBounds {
  double u8 = 0, f16 = 0, f32 = 0;
};

// A backend as the suite sees it.
struct SuiteBackend {
  std::string name;  // of the instance
  // staged: in steps, where the backend fuses them.
  std::function<std::unique_ptr<Texture>(const PyramidLayout& layout, const DiffConfig& diff, bool staged)> make;
  // A copy of the frame where this backend finds its frames, with rows that `seed` chooses; `memory` keeps it. Empty:
  // it is used as it is, in host memory.
  std::function<FrameView(const FrameView& frame, unsigned seed, std::any& memory)> place;
  SampleBounds samples;
  // bytes_written() counts the damaged tiles and their padding, as the CPU's does; else what was sent in their stead.
  bool counts_tiles = true;
  bool starts_over = true;  // it is a ReusableTexture
  // Why it can't be tested here, and the word of SACCADE_REQUIRE that forbids it. Empty: it can.
  std::function<std::string()> why_missing;
  std::string feature;
};

inline void PrintTo(const SuiteBackend& backend, std::ostream* out) { *out << backend.name; }

class BackendSuite : public ::testing::TestWithParam<SuiteBackend> {
 protected:
  void SetUp() override {
    const std::string why = GetParam().why_missing ? GetParam().why_missing() : "";
    if (!why.empty()) testing::skip_or_fail(GetParam().feature, why);
  }
  std::unique_ptr<Texture> make(const PyramidLayout& layout, const DiffConfig& diff = {}, bool staged = false) const {
    return GetParam().make(layout, diff, staged);
  }
  // Of the frame as it is now; valid until the next call.
  FrameView place(const FrameView& frame, unsigned seed = 0) {
    if (!GetParam().place) return frame;
    std::any memory;
    const FrameView placed = GetParam().place(frame, seed, memory);
    memory_ = std::move(memory);
    return placed;
  }

 private:
  std::any memory_;
};

inline std::string instance_name(const ::testing::TestParamInfo<SuiteBackend>& info) { return info.param.name; }

// The plain CPU operations, step by step: what every backend is compared with.
struct PlainTexture {
  CpuPyramid levels;
  CpuTileDiffer differ;

  PlainTexture(const PyramidLayout& layout, const DiffConfig& diff)
      : levels(layout, plain_ops()), differ(levels, diff) {}
  // Returns the bytes written.
  std::int64_t update(const FrameView& frame) {
    const Damage& damage = differ.diff(frame);
    const std::int64_t bytes = levels.upload(frame, damage);
    levels.refresh_mips(damage);
    return bytes;
  }
};

struct SuiteSize {
  int width, height;
};

inline constexpr std::array kSuiteSizes{SuiteSize{1, 1},    SuiteSize{2, 2},    SuiteSize{15, 17}, SuiteSize{16, 16},
                                        SuiteSize{17, 33},  SuiteSize{64, 64},  SuiteSize{65, 63}, SuiteSize{161, 121},
                                        SuiteSize{130, 70}, SuiteSize{257, 131}};
// How much of the frame changes before each step: one tile in so many; 0: nothing.
inline constexpr std::array kSuiteShares{1, 6, 2, 0, 30, 1};

struct SuiteCase {
  PixelLayout layout;
  int width, height, levels;
  unsigned seed;

  PyramidLayout shape() const { return make_pyramid_layout(width, height, texture_format(layout), levels); }
  TestFrame frame() const { return TestFrame(layout, width, height, usual_shift(layout), seed % 2 == 1); }
  std::string text() const {
    return fmt::format("{} {}x{} levels {} seed {}", saccade::name(layout), width, height, levels, seed);
  }
};

}  // namespace saccade::test
