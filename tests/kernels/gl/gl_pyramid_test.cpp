// What the GL pyramid does beside backend_suite.h: joined rectangles, limits, and calls that fail.
#include <gtest/gtest.h>

#include "kernels/cpu/differ.h"
#include "kernels/gl/texture.h"
#include "tests/kernels/comparison.h"
#include "tests/support/gl_fixture.h"

namespace saccade {
namespace {

using testing::gl_error_of;
using testing::GlTest;
using testing::HostFrame;
using testing::quiet_context;

constexpr unsigned kSeed = 20240611;

class GlPyramid : public GlTest {};

constexpr UploadCost kDearBytes{1e-3, 1.0};

// A joined rectangle covers tiles that a threshold left alone: those must keep the texture's old samples.
class GlPyramidWork : public GlTest, public ::testing::WithParamInterface<GlWork> {};
INSTANTIATE_TEST_SUITE_P(Work, GlPyramidWork, ::testing::Values(GlWork::kCompute, GlWork::kHost), testing::work_name);

TEST_P(GlPyramidWork, JoinedRects_LeaveUndamagedTiles) {
  DiffConfig diff;
  diff.threshold = 3;
  std::mt19937 random(kSeed);
  const PyramidLayout layout = make_pyramid_layout(200, 160, TextureFormat::kYuv8);
  // Always everything
  GlTexture on_gl(context(), layout, {GetParam(), UploadPath::kAuto, UploadCost{1e6, 1e-9}, diff});
  CpuPyramid on_cpu(layout);
  HostFrame frame(PixelLayout::kI420, 200, 160);
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
    test::expect_same_levels(on_cpu, on_gl, "threshold 3");
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
