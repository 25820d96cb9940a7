// How much memory our owners hold, for tests of leaks.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace saccade {

// Bytes that were allocated and not freed. Any thread.
struct MemoryUse {
  std::atomic<std::int64_t> device_bytes{0};
  std::atomic<std::int64_t> pinned_bytes{0};  // page-locked, of the host
};
inline MemoryUse& memory_use() {
  static MemoryUse use;
  return use;
}

}  // namespace saccade
