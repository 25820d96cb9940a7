#include "gpu/cuda/error.h"

#include <fmt/format.h>

namespace saccade {
namespace {

struct Advice {
  const char* text;
  DeviceRemedy remedy;
};

Advice advice(cudaError_t code) {
  switch (code) {
    case cudaErrorMemoryAllocation:
      return {"the GPU is out of memory", DeviceRemedy::kLessMemory};
    case cudaErrorNoDevice:
      return {"no NVIDIA GPU is visible: see nvidia-smi and CUDA_VISIBLE_DEVICES", DeviceRemedy::kUseCpu};
    case cudaErrorInsufficientDriver:
      return {"the NVIDIA driver is missing or older than this build's CUDA: update it", DeviceRemedy::kUseCpu};
    case cudaErrorNoKernelImageForDevice:
      return {"this build has no code for the GPU: set CMAKE_CUDA_ARCHITECTURES", DeviceRemedy::kUseCpu};
    case cudaErrorDevicesUnavailable:
      return {"the GPU is busy or in exclusive mode: end the program that holds it", DeviceRemedy::kUseCpu};
    case cudaErrorUnsupportedPtxVersion:
      return {"the NVIDIA driver is older than this build's CUDA: update it", DeviceRemedy::kUseCpu};
    default:
      return {"run again; if it stays, report it", DeviceRemedy::kUseCpu};
  }
}

}  // namespace

CudaError::CudaError(cudaError_t code, const std::string& call)
    : DeviceError(fmt::format("CUDA: {} failed: {} ({}); {}", call, cudaGetErrorName(code), cudaGetErrorString(code),
                              advice(code).text),
                  advice(code).remedy),
      code_(code),
      call_(call) {}

void cuda_check(cudaError_t code, const char* call) {
  if (code != cudaSuccess) {
    static_cast<void>(cudaGetLastError());  // a reported error must not be reported again by the next launch
    throw CudaError(code, call);
  }
}

void cuda_check(cudaError_t code, const std::string& call) { cuda_check(code, call.c_str()); }

void cuda_check_launch(const char* kernel, [[maybe_unused]] cudaStream_t stream) {
  cuda_check(cudaGetLastError(), kernel);
#ifndef NDEBUG
  cuda_check(cudaStreamSynchronize(stream), kernel);
#endif
}

}  // namespace saccade
