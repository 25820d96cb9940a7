// A caller's pixel buffer that CUDA writes.
#pragma once

#include <cstddef>
#include <memory>

namespace saccade {

// Registered while it lives. The context of the GL buffer must be current in every call, the destructor's too.
class SharedGlBuffer {
 public:
  virtual ~SharedGlBuffer() = default;
  virtual std::size_t size_bytes() const = 0;
  // Copies device memory to `offset`, in the order of `stream` (a cudaStream_t), and gives the buffer back to GL.
  // wait: until the copy is done. Throws DeviceError.
  virtual void write(const void* from, std::size_t size_bytes, std::size_t offset, void* stream, bool wait) = 0;
};

// Throws UnavailableError where this build or machine can't, UsageError for a name that is no buffer.
std::unique_ptr<SharedGlBuffer> share_gl_buffer(unsigned buffer, int device);

}  // namespace saccade
