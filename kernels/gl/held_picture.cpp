#include "kernels/gl/held_picture.h"

#include <fmt/format.h>

#include "kernels/gl/shaders.h"
#include "kernels/gl/texture.h"

namespace saccade {
namespace {

constexpr std::uint32_t kTilesPerGroup = 4;  // gl_held.comp
constexpr int kBytesPerWord = 4;

// Uniform locations of the shader.
constexpr GLint kCount = 0, kCols = 1, kPitch = 2, kImage = 3, kLevels = 4, kPower = 5, kNoise = 6, kChromaLevels = 7;

std::int64_t bytes_of_words(int bytes) { return (bytes + kBytesPerWord - 1) / kBytesPerWord * kBytesPerWord; }

}  // namespace

GlHeldPicture::GlHeldPicture(const GlTexture& texture, bool persistent, const ErrorMeasure& measure)
    : DeviceHeldPicture(texture.layout(), measure), texture_(texture) {
  texture_.make_current();
  gl::forget_errors();
  const PlaneLayout& plane = texture.layout().planes[0];
  program_ = make_compute_program(
      "gl_held", fmt::format("#define CHANNELS {}\n#define WIDE {}\n", plane.channels, plane.bytes_per_channel - 1));
  held_ = gl::Buffer(std::int64_t{plane.width} * plane.height, 0);
  held_chroma_ = gl::Buffer(std::int64_t{texture.layout().tiles.count()} * kBytesPerWord, 0);
  changes_on_gpu_ = gl::Buffer(bytes_of_words(texture.layout().tiles.count()), GL_DYNAMIC_STORAGE_BIT);
  changed_on_gpu_ = gl::Buffer(static_cast<std::int64_t>(changes_.changed().size_bytes()), GL_DYNAMIC_STORAGE_BIT);
  errors_ = gl::Readback(persistent, error_bytes());
  gl::check("GlHeldPicture");
}

// Names are deleted in the context that has them.
GlHeldPicture::~GlHeldPicture() {
  try {
    texture_.make_current();
  } catch (const gl::GlError&) {  // the context is lost, or another thread's: nothing here can be deleted
  }
}

std::int64_t GlHeldPicture::error_bytes() const {
  return std::int64_t{levels_} * texture_.layout().tiles.count() * std::int64_t{sizeof(std::uint32_t)};
}

void GlHeldPicture::queue() {
  if (!changes_.any()) return;
  texture_.make_current();
  gl::forget_errors();
  const PyramidLayout& layout = texture_.layout();
  const PlaneLayout& plane = layout.planes[0];
  const auto upload = [](const gl::Buffer& buffer, const auto& values) {
    glNamedBufferSubData(buffer.name(), 0, static_cast<GLsizeiptr>(values.size_bytes()), values.data());
  };
  upload(changes_on_gpu_, changes_.tiles());
  upload(changed_on_gpu_, changes_.changed());
  program_.use();
  const int chroma = layout.format == TextureFormat::kRgba8 ? 0 : 1;
  glBindTextureUnit(0, texture_.plane(0).codes.name());
  glBindTextureUnit(1, texture_.plane(chroma).codes.name());
  glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, changes_on_gpu_.name());
  glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 1, held_.name());
  glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 2, errors_.buffer());
  glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 3, changed_on_gpu_.name());
  glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 4, held_chroma_.name());
  glUniform1i(kCount, layout.tiles.count());
  glUniform1i(kCols, layout.tiles.cols);
  glUniform1i(kPitch, plane.width / kBytesPerWord);
  glUniform2i(kImage, plane.image_width, plane.image_height);
  glUniform1i(kLevels, levels_);
  glUniform1i(kPower, measure_.power);
  glUniform1i(kNoise, measure_.noise);
  glUniform1i(kChromaLevels, measure_.chroma ? layout.planes[static_cast<std::size_t>(chroma)].levels : 0);
  dispatch_compute(static_cast<std::uint32_t>(layout.tiles.count()), kTilesPerGroup);
  glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT);
  errors_.barrier();
  done_ = gl::Sync::fence();
  gl::check("glDispatchCompute of a held picture");
  changes_.clear();
}

TileErrors GlHeldPicture::measure() {
  queue();
  texture_.make_current();
  done_.finish("comparing the held picture");
  return errors_in(reinterpret_cast<const std::uint32_t*>(errors_.read(error_bytes())));
}

}  // namespace saccade
