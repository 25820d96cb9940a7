// A GPU that fails in the middle of a run: an UnavailableError that names backend and fault (exit 69), never a hang.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "pipeline/errors.h"
#include "pipeline/pipeline.h"
#include "tests/support/required.h"

namespace saccade {
namespace {

// The card is made to read where nothing is mapped, after which CUDA refuses every call, as after a lost device.
[[noreturn]] void fault_in_second_frame() {
  PipelineConfig config;
  config.backend = Backend::kCuda;
  Pipeline pipeline(config);
  std::vector<std::uint8_t> picture(std::size_t{64} * 64 * 3 / 2, 100);
  FrameView frame;
  frame.layout = PixelLayout::kNv12;
  frame.width_px = frame.height_px = 64;
  frame.planes[0] = {picture.data(), 64};
  frame.planes[1] = {picture.data() + 64 * 64, 64};
  pipeline.prepare(frame);
  Emission emission = pipeline.make_emission();
  pipeline.step(frame, emission);
  frame.space = MemorySpace::kCuda;
  frame.planes[0].data = frame.planes[1].data = reinterpret_cast<const std::uint8_t*>(std::uintptr_t{1} << 20);
  try {
    pipeline.step(frame, emission);
    std::fputs("nothing was thrown", stderr);
    std::_Exit(1);
  } catch (const UnavailableError& error) {
    std::fputs(error.what(), stderr);
    std::_Exit(static_cast<int>(error.code()));
  }
}

TEST(DeviceFault, EndsTheRunAndNamesTheBackend) {
  if (const std::string why_not = why_unavailable(Backend::kCuda); !why_not.empty()) {
    if (testing::required("cuda")) FAIL() << why_not;
    GTEST_SKIP() << "no CUDA: " << why_not;
  }
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(fault_in_second_frame(), ::testing::ExitedWithCode(69), "backend cuda: .*illegal");
}

}  // namespace
}  // namespace saccade
