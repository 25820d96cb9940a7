// OpenGL buffers that CUDA writes, and what the library holds in this process.
#include <saccade/saccade.h>

#include <cstddef>
#include <memory>

#include "capi/call.h"
#include "capi/structs.h"
#include "gpu/memory_use.h"
#include "kernels/device_texture.h"
#include "pipeline/backend/gl_buffer.h"

using namespace saccade;
using namespace saccade::capi;

struct saccade_gl_buffer {
  HandleMark mark{handle_counts().gl_buffers};
  std::unique_ptr<SharedGlBuffer> shared;
};

namespace {

template <typename Body>
saccade_status with_buffer(saccade_gl_buffer* buffer, const char* function, Body&& body) {
  return guarded([&] {
    require(buffer != nullptr, function, "buffer is NULL");
    buffer->mark.check(function);
    body(*buffer->shared);
    return SACCADE_OK;
  });
}

}  // namespace

saccade_status saccade_gl_buffer_new(unsigned buffer, int device, saccade_gl_buffer** out) {
  return guarded([&] {
    require(out != nullptr, "saccade_gl_buffer_new", "out is NULL");
    *out = nullptr;
    auto made = std::make_unique<saccade_gl_buffer>();
    made->shared = share_gl_buffer(buffer, device);
    *out = made.release();
    return SACCADE_OK;
  });
}

saccade_status saccade_gl_buffer_write(saccade_gl_buffer* buffer, const void* device_memory, std::size_t size_bytes,
                                       std::size_t offset, void* cuda_stream, int wait) {
  constexpr const char* kFunction = "saccade_gl_buffer_write";
  return with_buffer(buffer, kFunction, [&](SharedGlBuffer& shared) {
    require(device_memory != nullptr, kFunction, "device_memory is NULL");
    const std::size_t room = shared.size_bytes();
    if (offset > room || size_bytes > room - offset) {
      refuse(kFunction, fmt::format("a buffer of {} bytes has no room for {} at {}", room, size_bytes, offset));
    }
    shared.write(device_memory, size_bytes, offset, cuda_stream != nullptr ? cuda_stream : kLegacyStream, wait != 0);
  });
}

saccade_status saccade_gl_buffer_size(saccade_gl_buffer* buffer, std::size_t* size_bytes) {
  constexpr const char* kFunction = "saccade_gl_buffer_size";
  return with_buffer(buffer, kFunction, [&](SharedGlBuffer& shared) {
    require(size_bytes != nullptr, kFunction, "size_bytes is NULL");
    *size_bytes = shared.size_bytes();
  });
}

void saccade_gl_buffer_free(saccade_gl_buffer* buffer) {
  if (buffer != nullptr && buffer->mark.usable()) delete buffer;
}

saccade_status saccade_get_memory_use(saccade_memory_use* out) {
  return guarded([&] {
    saccade_memory_use use{};
    use.streams = handle_counts().streams;
    use.emissions = handle_counts().emissions;
    use.gl_buffers = handle_counts().gl_buffers;
    use.device_bytes = memory_use().device_bytes;
    use.pinned_bytes = memory_use().pinned_bytes;
    use.lattices = handle_counts().lattices;
    use.hardware_textures = handle_counts().hardware_textures;
    fill("saccade_get_memory_use", out, use, {offsetof(saccade_memory_use, lattices)});
    return SACCADE_OK;
  });
}
