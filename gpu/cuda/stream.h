// Owners of CUDA streams and events.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace saccade {

// A non-blocking stream of a device: it doesn't wait for the legacy default stream, nor that for it. Move-only; a
// moved-from stream is null. Destroying one does not wait.
class CudaStream {
 public:
  explicit CudaStream(int device);
  ~CudaStream();
  CudaStream(CudaStream&& other) noexcept;
  CudaStream& operator=(CudaStream&& other) noexcept;
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;

  cudaStream_t get() const { return stream_; }
  int device() const { return device_; }
  void wait() const;  // blocks the calling thread

 private:
  int device_ = 0;
  cudaStream_t stream_ = nullptr;
};

// A mark in a stream of the same device: kOrder only orders and waits (spinning: soonest), kSleep waits asleep, kTiming
// also takes the time. Any thread may wait.
class CudaEvent {
 public:
  enum class Kind : std::uint8_t { kOrder, kSleep, kTiming };
  explicit CudaEvent(int device, Kind kind = Kind::kOrder);
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
  int device_ = 0;
  cudaEvent_t event_ = nullptr;
};

}  // namespace saccade
