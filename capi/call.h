// What every call with a handle does first: the handle is there, belongs to this process, and leaves the thread's
// OpenGL context as it was.
#pragma once

#include <saccade/saccade.h>

#include <atomic>
#include <cstdint>

#include "capi/error.h"
#include "gpu/process_forks.h"

namespace saccade::capi {

// In which process a handle was made, and how many there are of its kind.
class HandleMark {
 public:
  explicit HandleMark(std::atomic<std::int64_t>& alive) : alive_(alive) { ++alive_; }
  ~HandleMark() { --alive_; }
  HandleMark(const HandleMark&) = delete;
  HandleMark& operator=(const HandleMark&) = delete;

  bool usable() const { return forks_ == process_forks(); }
  void check(const char* function) const {
    require(usable(), function, "this was made before fork(), in the parent process; make one in this process");
  }

 private:
  std::atomic<std::int64_t>& alive_;
  const std::uint32_t forks_ = process_forks();
};

// Handles of this process that were made and not freed.
struct HandleCounts {
  std::atomic<std::int64_t> streams{0};
  std::atomic<std::int64_t> emissions{0};  // that callers own
  std::atomic<std::int64_t> gl_buffers{0};
  std::atomic<std::int64_t> lattices{0};
  std::atomic<std::int64_t> hardware_textures{0};
};
inline HandleCounts& handle_counts() {
  static HandleCounts counts;
  return counts;
}

}  // namespace saccade::capi
