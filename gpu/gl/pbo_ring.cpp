#include "gpu/gl/pbo_ring.h"

#include <algorithm>

namespace saccade::gl {
namespace {

constexpr GLbitfield kPersistent = GL_MAP_WRITE_BIT | GL_MAP_PERSISTENT_BIT | GL_MAP_COHERENT_BIT;

std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace

PboRing::PboRing(const Capabilities& capabilities, std::int64_t slot_bytes)
    : slot_bytes_(
          round_up(std::max<std::int64_t>(slot_bytes, 1), std::max(256, capabilities.storage_buffer_alignment))) {
  const std::int64_t total_bytes = slot_bytes_ * kSlots;
  buffer_ = Buffer(total_bytes, capabilities.persistent_mapping ? kPersistent : GL_MAP_WRITE_BIT);
  if (capabilities.persistent_mapping) {
    mapped_ = static_cast<std::byte*>(
        glMapNamedBufferRange(buffer_.name(), 0, static_cast<GLsizeiptr>(total_bytes), kPersistent));
    check("glMapNamedBufferRange");
  }
}

std::span<std::byte> PboRing::write() {
  slot_ = (slot_ + 1) % kSlots;
  Sync& fence = fences_[static_cast<std::size_t>(slot_)];
  if (!fence.signaled()) fence.finish("reading a pixel buffer");
  fence.reset();
  const auto size = static_cast<std::size_t>(slot_bytes_);
  if (mapped_ != nullptr) return {mapped_ + offset_bytes(), size};
  // The fence has shown that GL no longer reads the slot.
  void* slot =
      glMapNamedBufferRange(buffer_.name(), static_cast<GLintptr>(offset_bytes()), static_cast<GLsizeiptr>(size),
                            GL_MAP_WRITE_BIT | GL_MAP_INVALIDATE_RANGE_BIT | GL_MAP_UNSYNCHRONIZED_BIT);
  return slot == nullptr ? std::span<std::byte>{} : std::span{static_cast<std::byte*>(slot), size};
}

void PboRing::flush() {
  if (mapped_ == nullptr) glUnmapNamedBuffer(buffer_.name());
}

void PboRing::submit() { fences_[static_cast<std::size_t>(slot_)] = Sync::fence(); }

}  // namespace saccade::gl
