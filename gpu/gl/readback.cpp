#include "gpu/gl/readback.h"

namespace saccade::gl {

Readback::Readback(bool persistent, std::int64_t size_bytes) : size_bytes_(size_bytes) {
  constexpr GLbitfield kRead = GL_MAP_READ_BIT | GL_MAP_PERSISTENT_BIT | GL_MAP_COHERENT_BIT;
  buffer_ = Buffer(size_bytes, persistent ? kRead | GL_CLIENT_STORAGE_BIT : GL_CLIENT_STORAGE_BIT);
  if (!persistent) {
    copy_.resize(static_cast<std::size_t>(size_bytes));
    return;
  }
  mapped_ = static_cast<const std::byte*>(
      glMapNamedBufferRange(buffer_.name(), 0, static_cast<GLsizeiptr>(size_bytes), kRead));
  check("glMapNamedBufferRange");
}

void Readback::barrier() const {
  glMemoryBarrier(mapped_ != nullptr ? GL_CLIENT_MAPPED_BUFFER_BARRIER_BIT : GL_BUFFER_UPDATE_BARRIER_BIT);
}

const std::byte* Readback::read(std::int64_t bytes) {
  if (mapped_ != nullptr) return mapped_;
  glGetNamedBufferSubData(buffer_.name(), 0, static_cast<GLsizeiptr>(bytes), copy_.data());
  return copy_.data();
}

}  // namespace saccade::gl
