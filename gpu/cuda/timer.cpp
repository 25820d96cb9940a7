#include "gpu/cuda/timer.h"

#include <cmath>

namespace saccade {

CudaTimer::CudaTimer(int device) {
  pairs_.reserve(kDepth);
  for (int k = 0; k < kDepth; ++k) pairs_.emplace_back(device);
}

void CudaTimer::begin(cudaStream_t stream) {
  open_ = written_ - read_ < kDepth;
  if (open_) pair(written_).begin.record(stream);
}

void CudaTimer::end(cudaStream_t stream) {
  if (!open_) return;
  pair(written_).end.record(stream);
  ++written_;
  open_ = false;
}

std::optional<std::int64_t> CudaTimer::poll_ns() {
  if (read_ == written_ || !pair(read_).end.done()) return std::nullopt;
  const float ms = pair(read_).end.since_ms(pair(read_).begin);
  ++read_;
  return std::llround(static_cast<double>(ms) * 1e6);
}

}  // namespace saccade
