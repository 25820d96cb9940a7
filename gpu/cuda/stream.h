// Owners of CUDA streams and events.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace saccade {

// A non-blocking stream of the current device. Move-only; a moved-from stream is null. Destroying one does not wait.
class CudaStream {
 public:
  CudaStream();
  ~CudaStream();
  CudaStream(CudaStream&& other) noexcept;
  CudaStream& operator=(CudaStream&& other) noexcept;
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;

  cudaStream_t get() const { return stream_; }
  void wait() const;  // blocks the calling thread

 private:
  cudaStream_t stream_ = nullptr;
};

// A mark in a stream: kOrder only orders and waits (spinning: soonest), kSleep waits asleep, kTiming also takes the
// time.
class CudaEvent {
 public:
  enum class Kind : std::uint8_t { kOrder, kSleep, kTiming };
  explicit CudaEvent(Kind kind = Kind::kOrder);
  ~CudaEvent();
  CudaEvent(CudaEvent&& other) noexcept;
  CudaEvent& operator=(CudaEvent&& other) noexcept;
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;

  cudaEvent_t get() const { return event_; }
  void record(cudaStream_t stream);
  bool done() const;                             // true when never recorded
  void wait() const;                             // blocks the calling thread
  void make_wait(cudaStream_t stream) const;     // later work of `stream` runs after this mark
  float since_ms(const CudaEvent& start) const;  // both kTiming, both done

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace saccade
