// Failed CUDA calls as exceptions.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "gpu/device_error.h"

namespace saccade {

// Carries the call that failed, CUDA's name and text for the error, and what can be tried.
class CudaError : public DeviceError {
 public:
  CudaError(cudaError_t code, const std::string& call);
  cudaError_t code() const { return code_; }
  const std::string& call() const { return call_; }

 private:
  cudaError_t code_;
  std::string call_;
};

// Throws CudaError unless `code` is success. `call` names the call for the message: "cudaMalloc of 12 bytes".
void cuda_check(cudaError_t code, const char* call);
void cuda_check(cudaError_t code, const std::string& call);

// After a kernel launch: a bad configuration in every build; in debug builds also waits, so that a fault is reported
// at the launch that caused it.
void cuda_check_launch(const char* kernel, cudaStream_t stream);

}  // namespace saccade
