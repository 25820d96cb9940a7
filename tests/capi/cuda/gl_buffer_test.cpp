// Device memory into a pixel buffer of the caller's OpenGL context.
#include <gmock/gmock.h>

#include <optional>

#include "tests/capi/cuda/device_room.h"

#if defined(SACCADE_GL)
#include "gpu/gl/context.h"
#include "gpu/gl/objects.h"
#endif

namespace saccade::test {
namespace {

class GlBuffer : public DeviceTest {};

#if defined(SACCADE_GL)
std::vector<std::uint8_t> read_back(unsigned buffer, std::size_t size_bytes) {
  std::vector<std::uint8_t> bytes(size_bytes);
  glGetNamedBufferSubData(buffer, 0, static_cast<GLsizeiptr>(size_bytes), bytes.data());
  return bytes;
}

TEST_F(GlBuffer, DeviceMemory_IsThereForOpenGL) {
  std::optional<gl::Context> context;
  try {
    gl::ContextConfig config;
    config.cuda_device = 0;
    context.emplace(gl::Context::offscreen(config));
  } catch (const gl::GlError& error) {
    saccade::testing::skip_or_fail("cuda-gl", error.what());
    return;
  }
  constexpr std::size_t kSize = 4096;
  GLuint name = 0;
  glCreateBuffers(1, &name);
  glNamedBufferStorage(name, kSize, nullptr, GL_DYNAMIC_STORAGE_BIT);
  const GLubyte zero = 0;
  glClearNamedBufferData(name, GL_R8, GL_RED, GL_UNSIGNED_BYTE, &zero);
  saccade_gl_buffer* buffer = nullptr;
  ASSERT_EQ(saccade_gl_buffer_new(name, 0, &buffer), SACCADE_OK) << saccade_last_error();
  std::size_t size = 0;
  EXPECT_EQ(saccade_gl_buffer_size(buffer, &size), SACCADE_OK);
  EXPECT_EQ(size, kSize);
  std::vector<std::uint8_t> wanted(kSize, 0);
  const DeviceBytes memory(1000);
  CallerStream caller;
  for (int round = 0; round < 8; ++round) {
    const std::size_t offset = static_cast<std::size_t>(round) * 100;
    const auto value = static_cast<std::uint8_t>(round + 1);
    caller.delay();
    expect_cuda(cudaMemsetAsync(memory.as<void>(), value, 1000, caller.get()));
    ASSERT_EQ(saccade_gl_buffer_write(buffer, memory.as<void>(), 1000, offset, caller.get(), round % 2), SACCADE_OK)
        << saccade_last_error();
    std::fill_n(wanted.begin() + static_cast<std::ptrdiff_t>(offset), 1000, value);
    ASSERT_EQ(read_back(name, kSize), wanted) << round;
  }
  EXPECT_EQ(saccade_gl_buffer_write(buffer, memory.as<void>(), 1000, kSize - 999, nullptr, 1), SACCADE_ERROR_USAGE);
  EXPECT_THAT(saccade_last_error(), ::testing::HasSubstr("no room"));
  saccade_gl_buffer_free(buffer);
  EXPECT_EQ(read_back(name, kSize), wanted) << "it stays OpenGL's";
  glDeleteBuffers(1, &name);
  EXPECT_LT(saccade_gl_buffer_new(name + 77, 0, &buffer), 0);
}
#endif

}  // namespace
}  // namespace saccade::test
