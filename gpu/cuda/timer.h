// Device time of a span of work in a stream, read frames later so that nobody waits for it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "gpu/cuda/stream.h"

namespace saccade {

// begin() and end() around the work of one frame; poll_ns() gives the oldest span that has ended. When kDepth are
// pending, further ones are skipped, not waited for. One thread.
class CudaTimer {
 public:
  static constexpr int kDepth = 8;

  explicit CudaTimer(int device);

  void begin(cudaStream_t stream);
  void end(cudaStream_t stream);
  std::optional<std::int64_t> poll_ns();

 private:
  struct Pair {
    explicit Pair(int device) : begin(device, CudaEvent::Kind::kTiming), end(device, CudaEvent::Kind::kTiming) {}
    CudaEvent begin;
    CudaEvent end;
  };
  Pair& pair(std::int64_t n) { return pairs_[static_cast<std::size_t>(n % kDepth)]; }

  std::vector<Pair> pairs_;   // kDepth
  std::int64_t written_ = 0;  // number n lies in pairs_[n % kDepth]
  std::int64_t read_ = 0;
  bool open_ = false;
};

}  // namespace saccade
