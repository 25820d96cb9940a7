// Contexts, owners, the ring, the timer.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "gpu/gl/pbo_ring.h"
#include "gpu/gl/timer.h"
#include "tests/support/gl_fixture.h"

namespace saccade {
namespace {

using testing::gl_error_of;
using testing::GlTest;

class GlObjects : public GlTest {};

TEST_F(GlObjects, Context_SaysWhatItIs) {
  const gl::Capabilities& c = context().capabilities();
  EXPECT_FALSE(c.renderer.empty());
  EXPECT_FALSE(c.vendor.empty());
  EXPECT_GE(c.version, "4.5");
  EXPECT_GE(c.max_texture_size, 16384 / 2);
  EXPECT_FALSE(c.platform.empty());
  EXPECT_EQ(c.software,
            c.renderer.find("llvmpipe") != std::string::npos || c.renderer.find("softpipe") != std::string::npos);
}

TEST_F(GlObjects, Mask_SwitchesFastPathsOff) {
  gl::ContextConfig config;
  config.mask = "persistent,timer";
  const gl::Context masked = gl::Context::offscreen(config);
  EXPECT_FALSE(masked.capabilities().persistent_mapping);
  EXPECT_FALSE(masked.capabilities().timer_queries);
}

TEST_F(GlObjects, Owners_MoveBorrowAndRelease) {
  gl::Buffer first(64, GL_DYNAMIC_STORAGE_BIT);
  const GLuint name = first.name();
  gl::Buffer second = std::move(first);
  EXPECT_EQ(first.name(), 0U);  // moved-from is a named state
  EXPECT_EQ(second.name(), name);
  { const gl::Buffer borrowed = gl::Buffer::wrap(name); }
  EXPECT_TRUE(glIsBuffer(name));
  const GLuint released = second.release();
  second = gl::Buffer();
  EXPECT_TRUE(glIsBuffer(released));
  glDeleteBuffers(1, &released);
  {
    const gl::Buffer owner(64, 0);
    first = gl::Buffer::wrap(owner.name());
  }
  EXPECT_FALSE(glIsBuffer(first.name()));
}

// Provoked GL errors are the point here, so this test has a context of its own.
TEST_F(GlObjects, Errors_NameTheCall) {
  std::string seen;
  gl::ContextConfig config;
  config.sink = [&seen](const gl::DebugMessage& message) { seen += message.error ? std::string(message.text) : ""; };
  const gl::Context other = gl::Context::offscreen(config);
  const std::string size = gl_error_of([] { const gl::Texture texture(GL_R8, -1, 4, 1); });
  EXPECT_NE(size.find("glTextureStorage2D failed: GL_INVALID_VALUE"), std::string::npos) << size;
  EXPECT_EQ(other.error_count(), 1);
  EXPECT_FALSE(seen.empty());
  const std::string broken = gl_error_of([] {
    const gl::Program program("broken", {{GL_COMPUTE_SHADER, "#version 450 core\nvoid main() { nonsense(); }\n"}});
  });
  EXPECT_NE(broken.find("glCompileShader(broken)"), std::string::npos) << broken;
  EXPECT_NE(broken.find("nonsense"), std::string::npos) << broken;
  GLsync gone = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
  glDeleteSync(gone);
  const std::string fence = gl_error_of([gone] { gl::Sync::wrap(gone).finish("drawing"); });
  EXPECT_NE(fence.find("drawing: the GPU did not finish"), std::string::npos) << fence;
}

TEST_F(GlObjects, Framebuffer_DrawsIntoATexture) {
  const gl::Texture texture(GL_RGBA8, 8, 4, 1);
  const gl::Framebuffer target(texture, 0);
  const GLfloat color[] = {1.0f, 0.0f, 0.2f, 1.0f};
  glClearNamedFramebufferfv(target.name(), GL_COLOR, 0, color);
  std::vector<std::uint8_t> pixels(8 * 4 * 4);
  glGetTextureImage(texture.name(), 0, GL_RGBA, GL_UNSIGNED_BYTE, static_cast<GLsizei>(pixels.size()), pixels.data());
  EXPECT_EQ(pixels[0], 255);
  EXPECT_EQ(pixels[1], 0);
  EXPECT_EQ(pixels[2], 51);
}

// More frames than slots: each reads back exactly what was written for it.
TEST_F(GlObjects, PboRing_DeliversEveryFrame) {
  gl::Capabilities plain = context().capabilities();
  plain.persistent_mapping = false;
  for (const gl::Capabilities& capabilities : {context().capabilities(), plain}) {
    constexpr int kWidth = 32;
    gl::PboRing ring(capabilities, kWidth);
    const gl::Texture texture(GL_R8UI, kWidth, 1, 1);
    for (int frame = 0; frame < 3 * gl::PboRing::kSlots; ++frame) {
      const std::span<std::byte> slot = ring.write();
      ASSERT_GE(slot.size(), std::size_t{kWidth});
      std::memset(slot.data(), frame + 1, kWidth);
      ring.flush();
      glBindBuffer(GL_PIXEL_UNPACK_BUFFER, ring.buffer());
      glTextureSubImage2D(texture.name(), 0, 0, 0, kWidth, 1, GL_RED_INTEGER, GL_UNSIGNED_BYTE,
                          reinterpret_cast<const void*>(ring.offset_bytes()));
      glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
      ring.submit();
      std::vector<std::uint8_t> row(kWidth);
      glGetTextureImage(texture.name(), 0, GL_RED_INTEGER, GL_UNSIGNED_BYTE, kWidth, row.data());
      EXPECT_EQ(std::accumulate(row.begin(), row.end(), 0), kWidth * (frame + 1));
    }
  }
}

TEST_F(GlObjects, Fence_Signals) {
  const gl::Sync nothing;
  EXPECT_TRUE(nothing.signaled());
  const gl::Sync fence = gl::Sync::fence();
  EXPECT_NO_THROW(fence.finish("a fence"));
  EXPECT_TRUE(fence.signaled());
}

TEST_F(GlObjects, Times_ComeTwoFramesLateOrNever) {
  gl::Timer timer(context().capabilities());
  std::vector<int> given;
  for (int frame = 0; frame < 6; ++frame) {
    timer.begin();
    timer.end();
    glFinish();
    if (const auto ns = timer.poll_ns()) {
      EXPECT_GE(*ns, 0);
      given.push_back(frame);
    }
  }
  if (context().capabilities().timer_queries) {
    EXPECT_EQ(given, (std::vector<int>{2, 3, 4, 5}));
  } else {
    EXPECT_TRUE(given.empty());
  }
}

// The text of a header of kernels/shared without its #include "..." lines.
std::string shared_header(const std::string& name) {
  std::ifstream file(std::string(SACCADE_SOURCE_DIR) + "/kernels/shared/" + name);
  std::string text;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("#include \"", 0) != 0) text += line + '\n';
  }
  return text;
}

// kernels/shared is GLSL too: all its headers compile, and their functions give what arithmetic by hand gives.
TEST_F(GlObjects, SharedHeaders_AreGlsl) {
  std::string text = "#version 450 core\n";
  for (const char* name : {"prelude.h", "color.h", "fovea.h", "oculomotor.h", "sampling.h"})
    text += shared_header(name);
  text += R"(
    layout(local_size_x = 1) in;
    layout(std430, binding = 0) writeonly buffer Out { float values[4]; };
    void main() {
      FoveaParams fovea = FoveaParams(2.3, 2.3, 0.02, 0.02, 6.0, 0.0, 0.0, 0.0);
      values[0] = level_of_detail(eccentricity(790.0, 5.0, 100.0, 5.0, fovea) + 2.3, fovea);
      values[1] = saccade_duration_s(10.0);
      values[2] = minimum_jerk(0.5);
      values[3] = texel_coordinate(sample_position_px(100.0, 7, 16, 8.0), 0.5, 0.25, 1.0);
    })";
  const gl::Program program("shared", {{GL_COMPUTE_SHADER, text}});
  const gl::Buffer out(16, GL_CLIENT_STORAGE_BIT);
  glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, out.name());
  program.use();
  glDispatchCompute(1, 1, 1);
  glMemoryBarrier(GL_BUFFER_UPDATE_BARRIER_BIT);
  float values[4] = {};
  glGetNamedBufferSubData(out.name(), 0, sizeof(values), values);
  EXPECT_NEAR(values[0], 3.0f, 1e-4f);    // e = 690 * 0.02 + 2.3 = 16.1; log2((16.1 + 2.3) / 2.3) = log2(8)
  EXPECT_NEAR(values[1], 0.043f, 1e-6f);  // 21 ms + 2.2 ms a degree
  EXPECT_NEAR(values[2], 0.5f, 1e-6f);    // half way
  EXPECT_NEAR(values[3], 47.75f, 1e-4f);  // 100 - 0.5 * 8 = 96; 96 / 2 + 0.25 - 0.5
}

}  // namespace
}  // namespace saccade
