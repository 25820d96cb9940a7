// A buffer that GL writes and the host reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gpu/gl/objects.h"

namespace saccade::gl {

// Stays mapped; copied out where that is masked (Capabilities::persistent_mapping). Owning thread. Throws GlError.
class Readback {
 public:
  Readback() = default;
  Readback(bool persistent, std::int64_t size_bytes);

  GLuint buffer() const { return buffer_.name(); }
  std::int64_t size_bytes() const { return size_bytes_; }
  void barrier() const;  // after the commands that write it, before the fence that follows them
  // Once that fence has signalled: its first bytes. Valid until GL writes it again.
  const std::byte* read(std::int64_t bytes);

 private:
  Buffer buffer_;
  std::int64_t size_bytes_ = 0;
  const std::byte* mapped_ = nullptr;  // null: copied
  std::vector<std::byte> copy_;
};

}  // namespace saccade::gl
