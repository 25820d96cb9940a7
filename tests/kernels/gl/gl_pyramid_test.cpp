// The GL pyramid against the CPU's: bit for bit, at all levels and planes, after any sequence of damage.
#include <gtest/gtest.h>

#include "kernels/cpu/differ.h"
#include "kernels/gl/texture.h"
#include "tests/support/gl_fixture.h"

namespace saccade {
namespace {

using testing::gl_error_of;
using testing::GlTest;
using testing::HostFrame;
using testing::quiet_context;

constexpr unsigned kSeed = 20240611;

struct Case {
  PixelLayout layout;
  int width, height, levels;
};

std::string describe(const Case& c) {
  return std::string(name(c.layout)) + " " + std::to_string(c.width) + "x" + std::to_string(c.height) + " levels " +
         std::to_string(c.levels) + " seed " + std::to_string(kSeed);
}

void expect_same_levels(const GlTexture& on_gl, const CpuPyramid& on_cpu, const std::string& when) {
  LevelImage gl_level;
  LevelImage cpu_level;
  const PyramidLayout& layout = on_cpu.layout();
  for (int p = 0; p < layout.plane_count; ++p) {
    for (int l = 0; l < layout.planes[static_cast<std::size_t>(p)].levels; ++l) {
      on_gl.read_level(p, l, gl_level);
      on_cpu.read_level(p, l, cpu_level);
      ASSERT_EQ(gl_level.width, cpu_level.width);
      ASSERT_EQ(gl_level.height, cpu_level.height);
      ASSERT_EQ(gl_level.data.size(), cpu_level.data.size());
      if (gl_level.data == cpu_level.data) continue;
      std::size_t at = 0;
      while (gl_level.data[at] == cpu_level.data[at]) ++at;
      FAIL() << when << ": plane " << p << " level " << l << " differs first at byte " << at << ": gl "
             << int{gl_level.data[at]} << ", cpu " << int{cpu_level.data[at]};
    }
  }
}

class GlPyramid : public GlTest {
 protected:
  // Random damage of every share, from nothing to everything, through the backend's own differ.
  void compare(const Case& c, const GlTextureConfig& config, int frames, const DiffConfig& diff = {}) {
    SCOPED_TRACE(describe(c));
    std::mt19937 random(kSeed);
    const PyramidLayout layout = make_pyramid_layout(c.width, c.height, texture_format(c.layout), c.levels);
    GlTexture on_gl(context(), layout, config);
    on_gl.configure(diff);
    CpuPyramid on_cpu(layout);
    HostFrame frame(c.layout, c.width, c.height);
    frame.randomize(random);
    constexpr int kShares[] = {1, 100, 10, 2, 0};
    for (int n = 0; n < frames; ++n) {
      const Damage& damage = on_gl.diff(frame.view());
      on_gl.upload(frame.view(), damage);
      on_gl.refresh_mips(damage);
      on_cpu.upload(frame.view(), damage);
      on_cpu.refresh_mips(damage);
      expect_same_levels(on_gl, on_cpu, "frame " + std::to_string(n));
      if (HasFatalFailure()) return;
      frame.disturb(random, kShares[n % 5]);
    }
  }
};

constexpr UploadCost kDearCalls{50.0, 1e-4};
constexpr UploadCost kDearBytes{1e-3, 1.0};

TEST_F(GlPyramid, PixelBuffersAndJoinedRects_EqualCpu) {
  for (const PixelLayout layout : {PixelLayout::kI420, PixelLayout::kP016, PixelLayout::kRgba8}) {
    for (const UploadCost cost : {kDearCalls, kDearBytes}) {
      compare({layout, 321, 243, kDefaultLevels}, {GlWork::kCompute, UploadPath::kPbo, cost, {}}, 6);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(GlPyramid, LevelsMadeOnTheHost_EqualCpu) {
  for (const PixelLayout layout : {PixelLayout::kNv12, PixelLayout::kP016, PixelLayout::kRgba8}) {
    for (const UploadCost cost : {kDearCalls, kDearBytes}) {
      compare({layout, 321, 243, kDefaultLevels}, {GlWork::kHost, UploadPath::kDirect, cost, {}}, 6);
      compare({layout, 1100, 70, 9}, {GlWork::kHost, UploadPath::kPbo, cost, {}}, 3);
      if (HasFatalFailure()) return;
    }
  }
}

// White samples make the largest sums: 64 bits above level 8 of 16-bit planes.
TEST_F(GlPyramid, LargeSums_AreExact) {
  const Case c{PixelLayout::kP016, 1100, 1050, 12};
  compare(c, {GlWork::kCompute, UploadPath::kDirect, kDearBytes, {}}, 2);
}

// A joined rectangle covers tiles that a threshold left alone: those must keep the texture's old samples.
class GlPyramidWork : public GlTest, public ::testing::WithParamInterface<GlWork> {};
INSTANTIATE_TEST_SUITE_P(Work, GlPyramidWork, ::testing::Values(GlWork::kCompute, GlWork::kHost), testing::work_name);

TEST_P(GlPyramidWork, JoinedRects_LeaveUndamagedTiles) {
  DiffConfig diff;
  diff.threshold = 3;
  const Case c{PixelLayout::kI420, 200, 160, kDefaultLevels};
  std::mt19937 random(kSeed);
  const PyramidLayout layout = make_pyramid_layout(c.width, c.height, texture_format(c.layout), c.levels);
  // Always everything
  GlTexture on_gl(context(), layout, {GetParam(), UploadPath::kAuto, UploadCost{1e6, 1e-9}, diff});
  CpuPyramid on_cpu(layout);
  HostFrame frame(c.layout, c.width, c.height);
  frame.randomize(random);
  HostFrame other = frame;
  other.disturb(random, 2);  // by one code: below the threshold
  HostFrame third = other;
  std::mt19937 fresh(kSeed + 1);
  third.randomize(fresh);
  for (const HostFrame* f : {&frame, &other, &third, &other}) {
    const Damage& damage = on_gl.diff(f->view());
    on_gl.upload(f->view(), damage);
    on_gl.refresh_mips(damage);
    on_cpu.upload(f->view(), damage);
    on_cpu.refresh_mips(damage);
    expect_same_levels(on_gl, on_cpu, "threshold 3");
    if (damage.count() > 0) {
      EXPECT_TRUE(on_gl.last_upload().full);
    }
  }
}

TEST_F(GlPyramid, Calibrated_HasPlausibleCosts) {
  const PyramidLayout layout = make_pyramid_layout(640, 360, TextureFormat::kYuv8);
  for (const UploadPath path : {UploadPath::kDirect, UploadPath::kPbo}) {
    const GlTexture pyramid(context(), layout, {GlWork::kAuto, path, {}, {}});
    EXPECT_GT(pyramid.upload_cost().call_us, 0);
    EXPECT_GT(pyramid.upload_cost().byte_us, 0);
    EXPECT_LT(pyramid.upload_cost().call_us, 1e5);
  }
}

TEST_F(GlPyramid, MissingLevel_IsRefused) {
  const PyramidLayout layout = make_pyramid_layout(64, 64, TextureFormat::kRgba8);
  const GlTexture pyramid(context(), layout, {GlWork::kAuto, UploadPath::kAuto, kDearBytes, {}});
  LevelImage out;
  EXPECT_THROW(pyramid.read_level(1, 0, out), std::out_of_range);
  EXPECT_THROW(pyramid.read_level(0, 7, out), std::out_of_range);
  EXPECT_THROW(pyramid.read_level(0, -1, out), std::out_of_range);
}

TEST_F(GlPyramid, TooLargeTexture_NamesTheLimit) {
  gl::Capabilities small = context().capabilities();
  small.max_texture_size = 1024;
  const std::string error =
      gl_error_of([&] { make_gl_planes(small, make_pyramid_layout(2000, 100, TextureFormat::kYuv8)); });
  EXPECT_NE(error.find("1024"), std::string::npos) << error;
}

// A texture that GL could not write holds wrong pixels.
TEST_F(GlPyramid, FailedUpload_Throws) {
  const gl::Context other = quiet_context();
  const PyramidLayout layout = make_pyramid_layout(64, 64, TextureFormat::kRgba8);
  HostFrame frame(PixelLayout::kRgba8, 64, 64);
  Damage all(layout.tiles);
  all.set_all();
  for (const UploadPath path : {UploadPath::kDirect, UploadPath::kPbo}) {
    GlTexture pyramid(other, layout, {GlWork::kAuto, path, kDearBytes, {}});
    glEnable(GL_TEXTURE_2D);  // no capability of a core profile: somebody else's error
    EXPECT_NO_THROW(pyramid.upload(frame.view(), all));
    const GLuint texture = pyramid.plane(0).texture.name();
    glDeleteTextures(1, &texture);
    const std::string error = gl_error_of([&] { pyramid.upload(frame.view(), all); });
    EXPECT_NE(error.find("glTextureSubImage2D"), std::string::npos) << error;
  }
}

TEST_F(GlPyramid, FailedSampling_IsForgotten) {
  const gl::Context other = quiet_context();
  const PyramidLayout layout = make_pyramid_layout(64, 64, TextureFormat::kRgba8);
  GlTexture pyramid(other, layout, {GlWork::kCompute, UploadPath::kDirect, kDearBytes, {}});
  PatchPlan plan;
  plan.patch_size = 16;
  plan.patches.push_back({32, 32, 0, 1});
  PatchBatch batch(1, 16, {});
  EXPECT_NO_THROW(pyramid.sample(plan, {}, batch));
  const GLuint texture = pyramid.plane(0).codes.name();
  glDeleteTextures(1, &texture);
  EXPECT_THROW(pyramid.sample(plan, {}, batch), gl::GlError);
  EXPECT_THROW(pyramid.sample(plan, {}, batch), gl::GlError);
}

}  // namespace
}  // namespace saccade
