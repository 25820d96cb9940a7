#include <fmt/format.h>

#include "gpu/cuda/error.h"
#include "gpu/interop/foreign_gl_buffer.h"
#include "pipeline/backend/gl_buffer.h"
#include "pipeline/error.h"

namespace saccade {
namespace {

class ForeignBuffer final : public SharedGlBuffer {
 public:
  ForeignBuffer(unsigned buffer, int device) : buffer_(device, buffer) {}
  std::size_t size_bytes() const override { return buffer_.size_bytes(); }
  void write(const void* from, std::size_t size_bytes, std::size_t offset, void* stream, bool wait) override {
    buffer_.write(from, size_bytes, offset, static_cast<cudaStream_t>(stream), wait);
  }

 private:
  CudaForeignGlBuffer buffer_;
};

}  // namespace

std::unique_ptr<SharedGlBuffer> share_gl_buffer(unsigned buffer, int device) {
  try {
    return std::make_unique<ForeignBuffer>(buffer, device);
  } catch (const CudaError& error) {
    if (error.code() != cudaErrorInvalidResourceHandle && error.code() != cudaErrorInvalidValue) throw;
    throw UsageError(
        fmt::format("OpenGL buffer {}: the current OpenGL context has no such buffer; give the name of one "
                    "that has storage, while its context is current",
                    buffer));
  }
}

}  // namespace saccade
