// What the GL tests share: one offscreen context, frames with known contents, random damage.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "gpu/gl/context.h"
#include "kernels/damage.h"
#include "kernels/frame_view.h"
#include "kernels/gl/texture.h"

namespace saccade::testing {

// Null when this machine gives no context; `why` then says so. Made once a process.
gl::Context* shared_context(std::string& why);

// A context for provoked errors, current from now on, that says nothing of them.
gl::Context quiet_context();

// What gl::GlError says that `work` throws. Fails the test where it throws none.
template <typename F>
std::string gl_error_of(F&& work) {
  try {
    work();
  } catch (const gl::GlError& error) {
    return error.what();
  }
  ADD_FAILURE() << "no gl::GlError";
  return "";
}

// Skips without a context, or fails when SACCADE_REQUIRE lists gl. Every test ends with no GL error reported; one that
// made another context current may leave it so.
class GlTest : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;
  gl::Context& context() { return *context_; }

 private:
  gl::Context* context_ = nullptr;
  std::int64_t errors_before_ = 0;
};

// Names the instances of tests that take a GlWork.
inline std::string work_name(const ::testing::TestParamInfo<GlWork>& info) {
  return info.param == GlWork::kHost ? "Host" : "Compute";
}

// A frame in host memory whose rows are padded by an odd number of bytes where samples are bytes.
class HostFrame {
 public:
  HostFrame(PixelLayout layout, int width_px, int height_px);
  FrameView view() const;
  void randomize(std::mt19937& random);
  // Changes samples of about one tile in `one_in` (0: of none), so that exact comparison finds those tiles.
  void disturb(std::mt19937& random, int one_in);

 private:
  struct Plane {
    int width_bytes = 0, rows = 0, sample_bytes = 1;
    std::ptrdiff_t pitch = 0;
    std::vector<std::uint8_t> bytes;
  };
  PixelLayout layout_;
  int width_px_, height_px_;
  std::vector<Plane> planes_;
};

}  // namespace saccade::testing
