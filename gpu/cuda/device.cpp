#include "gpu/cuda/device.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

namespace saccade {
namespace {

std::string reason(const char* call, cudaError_t error) {
  static_cast<void>(cudaGetLastError());  // the error is reported here and must not surface in a later call
  return fmt::format("{}: {}", call, cudaGetErrorString(error));
}

}  // namespace

CudaStatus query_cuda() {
  CudaStatus status;
  static_cast<void>(cudaRuntimeGetVersion(&status.runtime_version));
  if (cudaDriverGetVersion(&status.driver_version) != cudaSuccess) status.driver_version = 0;
  if (status.driver_version == 0) {
    status.error = "no driver";
    return status;
  }
  int count = 0;
  if (const cudaError_t error = cudaGetDeviceCount(&count); error != cudaSuccess) {
    status.error = reason("cudaGetDeviceCount", error);
    return status;
  }
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    cudaDeviceProp properties{};
    if (const cudaError_t error = cudaGetDeviceProperties(&properties, ordinal); error != cudaSuccess) {
      status.error = reason("cudaGetDeviceProperties", error);
      return status;
    }
    status.devices.push_back({.name = properties.name,
                              .compute_major = properties.major,
                              .compute_minor = properties.minor,
                              .memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem)});
  }
  if (status.devices.empty()) status.error = "no device";
  return status;
}

void share_primary_context() {
  if (cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync) != cudaSuccess) static_cast<void>(cudaGetLastError());
}

std::string cuda_fault() {
  const cudaError_t state = cudaStreamQuery(nullptr);
  if (state == cudaSuccess || state == cudaErrorNotReady) return {};
  return reason("cudaStreamQuery", state);
}

}  // namespace saccade
