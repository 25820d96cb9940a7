#include "gpu/cuda/stream.h"

#include <utility>

#include "gpu/cuda/device.h"
#include "gpu/cuda/error.h"

namespace saccade {

CudaStream::CudaStream(int device) : device_(device) {
  const CudaDeviceGuard guard(device_);
  cuda_check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
}

CudaStream::~CudaStream() {
  if (stream_ == nullptr) return;
  const CudaDeviceGuard guard(device_, std::nothrow);
  static_cast<void>(cudaStreamDestroy(stream_));
}

CudaStream::CudaStream(CudaStream&& other) noexcept
    : device_(other.device_), stream_(std::exchange(other.stream_, nullptr)) {}

CudaStream& CudaStream::operator=(CudaStream&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(stream_, other.stream_);
  return *this;
}

void CudaStream::wait() const {
  const CudaDeviceGuard guard(device_);
  cuda_check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
}

CudaEvent::CudaEvent(int device, Kind kind) : device_(device) {
  const CudaDeviceGuard guard(device_);
  const unsigned flags = kind == Kind::kTiming  ? cudaEventDefault
                         : kind == Kind::kSleep ? cudaEventDisableTiming | cudaEventBlockingSync
                                                : cudaEventDisableTiming;
  cuda_check(cudaEventCreateWithFlags(&event_, flags), "cudaEventCreate");
}

CudaEvent::~CudaEvent() {
  if (event_ == nullptr) return;
  const CudaDeviceGuard guard(device_, std::nothrow);
  static_cast<void>(cudaEventDestroy(event_));
}

CudaEvent::CudaEvent(CudaEvent&& other) noexcept
    : device_(other.device_), event_(std::exchange(other.event_, nullptr)) {}

CudaEvent& CudaEvent::operator=(CudaEvent&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(event_, other.event_);
  return *this;
}

void CudaEvent::record(cudaStream_t stream) {
  const CudaDeviceGuard guard(device_);
  cuda_check(cudaEventRecord(event_, stream), "cudaEventRecord");
}

bool CudaEvent::done() const {
  const CudaDeviceGuard guard(device_);
  const cudaError_t state = cudaEventQuery(event_);
  if (state == cudaErrorNotReady) return false;
  cuda_check(state, "cudaEventQuery");
  return true;
}

void CudaEvent::wait() const {
  const CudaDeviceGuard guard(device_);
  cuda_check(cudaEventSynchronize(event_), "cudaEventSynchronize");
}

void CudaEvent::make_wait(cudaStream_t stream) const {
  const CudaDeviceGuard guard(device_);
  cuda_check(cudaStreamWaitEvent(stream, event_, 0), "cudaStreamWaitEvent");
}

float CudaEvent::since_ms(const CudaEvent& start) const {
  const CudaDeviceGuard guard(device_);
  float ms = 0;
  cuda_check(cudaEventElapsedTime(&ms, start.event_, event_), "cudaEventElapsedTime");
  return ms;
}

}  // namespace saccade
