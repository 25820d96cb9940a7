#include "gpu/cuda/error.h"

#include <fmt/format.h>

namespace saccade {
namespace {

const char* remedy(cudaError_t code) {
  switch (code) {
    case cudaErrorMemoryAllocation:
      return "the card is out of memory: end other programs on it, or use a smaller frame (--vf scale=...)";
    case cudaErrorNoDevice:
      return "no NVIDIA card is visible: see nvidia-smi and CUDA_VISIBLE_DEVICES, or use --backend cpu";
    case cudaErrorInsufficientDriver:
      return "the NVIDIA driver is missing or older than this build's CUDA: update it, or use --backend cpu";
    case cudaErrorNoKernelImageForDevice:
      return "this build has no code for the card: set CMAKE_CUDA_ARCHITECTURES, or use --backend cpu";
    case cudaErrorDevicesUnavailable:
      return "the card is busy or in exclusive mode: end the program that holds it, or use --backend cpu";
    case cudaErrorUnsupportedPtxVersion:
      return "the NVIDIA driver is older than this build's CUDA: update it, or use --backend cpu";
    default:
      return "run again; if it stays, use --backend cpu and report it";
  }
}

}  // namespace

CudaError::CudaError(cudaError_t code, const std::string& call)
    : DeviceError(fmt::format("CUDA: {} failed: {} ({}); {}", call, cudaGetErrorName(code), cudaGetErrorString(code),
                              remedy(code))),
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
