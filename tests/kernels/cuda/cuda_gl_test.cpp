// Backend cuda on GL's textures against the plain CPU backend, and what GL itself reads there;
// the pixel buffer hand-over.
#if defined(SACCADE_GL)
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "gpu/cuda/error.h"
#include "gpu/cuda/stream.h"
#include "gpu/gl/context.h"
#include "gpu/interop/gl_buffer.h"
#include "gpu/interop/gl_textures.h"
#include "kernels/interop/handover.h"
#include "kernels/interop/texture.h"
#include "tests/kernels/cuda/cuda_fixture.h"

namespace saccade::test {
namespace {

constexpr PixelLayout kOnDevice[] = {PixelLayout::kNv12, PixelLayout::kP016, PixelLayout::kRgba8, PixelLayout::kI420,
                                     PixelLayout::kI420p16};

// Skips without a device, as CudaTest; with one, a missing EGL is a failure.
class CudaGl : public CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    gl::ContextConfig config;
    config.cuda_device = 0;
    context_.emplace(gl::Context::offscreen(std::move(config)));
  }
  void TearDown() override {
    if (!context_) return;
    EXPECT_EQ(context_->error_count(), 0);
    EXPECT_EQ(glGetError(), static_cast<GLenum>(GL_NO_ERROR));
  }
  std::optional<gl::Context> context_;
};

// What GL sees, not CUDA.
void expect_gl_reads(const Levels& expected, const CudaGlTexture& pyramid, const std::string& what) {
  LevelImage image;
  for (int p = 0; p < expected.layout().plane_count; ++p) {
    const GlPlane& plane = pyramid.plane(p);
    for (int l = 0; l < plane.layout.levels; ++l) {
      expected.read_level(p, l, image);
      std::vector<std::uint8_t> seen(image.data.size());
      glPixelStorei(GL_PACK_ALIGNMENT, 1);
      glGetTextureImage(plane.codes.name(), l, plane.format.transfer_codes, plane.format.type,
                        static_cast<GLsizei>(seen.size()), seen.data());
      ASSERT_EQ(image.data, seen) << what << ": plane " << p << " level " << l;
    }
  }
}

CudaGlTextureConfig config(UploadPath path, GlSharing sharing = GlSharing::kAuto) { return {{}, path, sharing, true}; }

enum class From : std::uint8_t { kHost, kDevice, kBoth };  // kBoth: in turns

void run_sequence(const gl::Context& context, PixelLayout layout, int width, int height, UploadPath path, From from,
                  bool fused, GlSharing sharing = GlSharing::kAuto) {
  std::mt19937 rng(static_cast<unsigned>(width * 7 + height));
  TestFrame frame(layout, width, height, is_wide(layout) ? 6 : 0);
  frame.randomize(rng);
  const PyramidLayout shape = make_pyramid_layout(width, height, texture_format(layout), 7);
  CpuPyramid cpu(shape, plain_ops());
  CpuTileDiffer cpu_differ(cpu, {});
  CudaGlTexture cuda(context, shape, config(path, sharing));
  for (int step = 0; step < 6; ++step) {
    const std::string what = fmt::format("{} {}x{} path {} from {} fused {} step {}", name(layout), width, height,
                                         static_cast<int>(path), static_cast<int>(from), fused, step);
    if (step != 0 && step != 3) disturb(frame, rng, step == 2 ? 2 : 8);
    const PlacedFrame placed(frame.view(), PlacedFrame::Where::kDevice, Rows::kAligned);
    const bool on_device = from == From::kDevice || (from == From::kBoth && step / 2 % 2 == 1);
    const FrameView& view = on_device ? placed.view() : frame.view();
    const Damage& expected = cpu_differ.diff(frame.view());
    cpu.upload(frame.view(), expected);
    cpu.refresh_mips(expected);
    if (fused) {
      cuda.update(view);
      expect_same_damage(expected, cuda.damage(), what);
    } else {
      const Damage& damage = cuda.diff(view);
      // Where frames change places all is damaged: more than needed, never less.
      if (from != From::kBoth) expect_same_damage(expected, damage, what);
      cuda.upload(view, damage);
      cuda.refresh_mips(damage);
    }
    expect_same_levels(cpu, cuda, what);
    expect_gl_reads(cpu, cuda, what);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST_F(CudaGl, Context_IsOnTheGpu) {
  EXPECT_EQ(cuda_device_of_current_gl(), 0);
  EXPECT_FALSE(context_->capabilities().software);
}

TEST_F(CudaGl, MissingGpu_HasNoContext) {
  gl::ContextConfig config;
  config.cuda_device = 1000;
  try {
    const gl::Context none = gl::Context::offscreen(config);
    FAIL() << "made a context on CUDA device 1000";
  } catch (const gl::GlError& error) {
    EXPECT_NE(std::string(error.what()).find("CUDA device 1000"), std::string::npos) << error.what();
  }
  context_->make_current();
}

TEST_F(CudaGl, EveryWay_EqualsCpu) {
  for (const PixelLayout layout : kOnDevice) {
    for (const auto& [width, height] : {std::pair{320, 180}, {161, 121}, {17, 33}}) {
      for (const From from : {From::kHost, From::kDevice, From::kBoth}) {
        run_sequence(*context_, layout, width, height, UploadPath::kDirect, from, false);
        if (from != From::kBoth) run_sequence(*context_, layout, width, height, UploadPath::kDirect, from, true);
        run_sequence(*context_, layout, width, height, UploadPath::kPbo, from, false);
        if (HasFailure()) return;
      }
    }
  }
}

// What a driver gets that can't share textures.
TEST_F(CudaGl, Copies_ReachGl) {
  for (const PixelLayout layout : kOnDevice) {
    for (const auto& [width, height] : {std::pair{320, 180}, {161, 121}}) {
      for (const bool fused : {false, true})
        run_sequence(*context_, layout, width, height, UploadPath::kDirect, From::kHost, fused, GlSharing::kCopied);
      if (HasFailure()) return;
    }
  }
  run_sequence(*context_, PixelLayout::kNv12, 1920, 1080, UploadPath::kDirect, From::kDevice, true, GlSharing::kCopied);
}

TEST_F(CudaGl, UnlessCopied_Shares) {
  const PyramidLayout shape = make_pyramid_layout(64, 64, TextureFormat::kYuv8, 7);
  EXPECT_EQ(CudaGlTexture(*context_, shape, config(UploadPath::kDirect)).why_copied(), "");
  EXPECT_NE(CudaGlTexture(*context_, shape, config(UploadPath::kDirect, GlSharing::kCopied)).why_copied(), "");
}

TEST_F(CudaGl, LargeFrames_EqualCpu) {
  run_sequence(*context_, PixelLayout::kNv12, 1920, 1080, UploadPath::kDirect, From::kDevice, true);
  run_sequence(*context_, PixelLayout::kNv12, 1920, 1080, UploadPath::kPbo, From::kHost, false);
  run_sequence(*context_, PixelLayout::kP016, 1920, 1080, UploadPath::kPbo, From::kDevice, false);
}

TEST_F(CudaGl, HandoverThatDoesNotFit_IsRefused) {
  const PyramidLayout shape = make_pyramid_layout(64, 64, TextureFormat::kYuv8, 7);
  CudaGlTexture cuda(*context_, shape, config(UploadPath::kPbo));
  const std::vector<GlPlane> planes = make_gl_planes(context_->capabilities(), shape);
  cuda::PboHandover handover(0, shape, planes);
  const TileRect rect{0, 0, 4, 4};
  const CudaStream stream(0);
  const TestFrame small(PixelLayout::kNv12, 32, 64);
  const TestFrame deep(PixelLayout::kP016, 64, 64);
  const TestFrame host(PixelLayout::kNv12, 64, 64);
  EXPECT_THROW(handover.push(host.view(), {&rect, 1}, stream.get()), std::invalid_argument);
  for (const TestFrame* frame : {&small, &deep}) {
    const PlacedFrame placed(frame->view(), PlacedFrame::Where::kDevice, Rows::kAligned);
    EXPECT_THROW(handover.push(placed.view(), {&rect, 1}, stream.get()), std::invalid_argument);
  }
}

TEST_F(CudaGl, Buffer_IsSeenByGl) {
  CudaGlBuffer buffer(0, 1000);
  const CudaStream stream(0);
  static_cast<void>(buffer.map(stream.get()));  // given back though nobody unmaps it: what was to fill it failed, say
  CudaGlBuffer::Mapping mapping = buffer.map(stream.get());
  cuda_check(cudaMemsetAsync(mapping.data(), 0x5a, 1000, stream.get()), "cudaMemsetAsync");
  mapping.unmap();
  std::vector<std::uint8_t> seen(1000);
  glGetNamedBufferSubData(buffer.buffer(), 0, 1000, seen.data());
  EXPECT_EQ(seen, std::vector<std::uint8_t>(1000, 0x5a));
}

}  // namespace
}  // namespace saccade::test
#endif
