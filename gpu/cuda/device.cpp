#include "gpu/cuda/device.h"

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <atomic>
#include <map>
#include <mutex>

#include "gpu/cuda/error.h"
#include "gpu/process_forks.h"

namespace saccade {
namespace {

std::string reason(const char* call, cudaError_t error) {
  static_cast<void>(cudaGetLastError());  // the error is reported here and must not surface in a later call
  return fmt::format("{}: {}", call, cudaGetErrorString(error));
}

// The driver's functions come through the runtime, so that the program starts where there is no driver.
template <typename F>
F driver_function(const char* name) {
  void* address = nullptr;
#if CUDART_VERSION >= 12050
  cudaDriverEntryPointQueryResult found{};
  cuda_check(cudaGetDriverEntryPointByVersion(name, &address, 12000, cudaEnableDefault, &found), name);
#else
  cuda_check(cudaGetDriverEntryPoint(name, &address, cudaEnableDefault), name);
#endif
  if (address == nullptr) throw CudaError(cudaErrorInsufficientDriver, name);
  return reinterpret_cast<F>(address);
}

struct Driver {
  using DeviceGet = CUresult(CUDAAPI*)(CUdevice*, int);
  using Retain = CUresult(CUDAAPI*)(CUcontext*, CUdevice);
  using Push = CUresult(CUDAAPI*)(CUcontext);
  using Pop = CUresult(CUDAAPI*)(CUcontext*);
  using Current = CUresult(CUDAAPI*)(CUcontext*);
  DeviceGet device_get = driver_function<DeviceGet>("cuDeviceGet");
  Retain retain = driver_function<Retain>("cuDevicePrimaryCtxRetain");
  Push push = driver_function<Push>("cuCtxPushCurrent");
  Pop pop = driver_function<Pop>("cuCtxPopCurrent");
  Current current = driver_function<Current>("cuCtxGetCurrent");
};

const Driver& driver() {
  static const Driver functions;
  return functions;
}

// The driver's codes are the runtime's, by number.
void check(CUresult code, const char* call) { cuda_check(static_cast<cudaError_t>(code), call); }

// Asked once for a process: the driver takes milliseconds, and each stream that is opened wants to know.
cudaError_t describe(int ordinal, CudaDevice& device) {
  static std::mutex mutex;
  static auto* const known = new std::map<int, CudaDevice>;
  const std::lock_guard lock(mutex);
  const auto [at, is_new] = known->try_emplace(ordinal);
  if (is_new) {
    cudaDeviceProp properties{};
    if (const cudaError_t error = cudaGetDeviceProperties(&properties, ordinal); error != cudaSuccess) {
      known->erase(at);
      return error;
    }
    at->second = {.name = properties.name,
                  .compute_major = properties.major,
                  .compute_minor = properties.minor,
                  .memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem)};
  }
  device = at->second;
  return cudaSuccess;
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
  static std::atomic<std::uint32_t> used_at{UINT32_MAX};  // process_forks() when CUDA was last used
  const std::uint32_t forks = process_forks();
  if (const cudaError_t error = cudaGetDeviceCount(&count); error != cudaSuccess) {
    status.error = reason("cudaGetDeviceCount", error);
    if (used_at != UINT32_MAX && used_at != forks) {
      status.error += "; CUDA was used before this process was forked: start workers by spawn, not fork";
    }
    return status;
  }
  used_at = forks;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    CudaDevice& device = status.devices.emplace_back();
    if (const cudaError_t error = describe(ordinal, device); error != cudaSuccess) {
      status.devices.clear();
      status.error = reason("cudaGetDeviceProperties", error);
      return status;
    }
  }
  if (status.devices.empty()) status.error = "no device";
  return status;
}

// Whether the runtime's calls on this thread go to the primary context of `device` anyway. A context that somebody made
// for himself is no such, even on the same device: streams and memory belong to one context.
bool CudaDeviceGuard::is_current(int device) {
  int current_device = 0;
  cuda_check(cudaGetDevice(&current_device), "cudaGetDevice");
  if (current_device != device) return false;
  CUcontext current = nullptr;
  const CUresult code = driver().current(&current);
  if (code == CUDA_ERROR_NOT_INITIALIZED || (code == CUDA_SUCCESS && current == nullptr)) return true;
  check(code, "cuCtxGetCurrent");
  return current == cuda_primary_context(device);
}

CudaDeviceGuard::CudaDeviceGuard(int device) {
  if (is_current(device)) return;
  // Not cudaSetDevice: setting back the device of a thread that has no context would make one there.
  auto* context = static_cast<CUcontext>(cuda_primary_context(device));
  check(driver().push(context), "cuCtxPushCurrent");
  pushed_ = true;
}

CudaDeviceGuard::CudaDeviceGuard(int device, const std::nothrow_t&) noexcept {
  try {
    if (is_current(device)) return;
    auto* context = static_cast<CUcontext>(cuda_primary_context(device));
    pushed_ = driver().push(context) == CUDA_SUCCESS;
  } catch (const std::exception&) {  // the driver is gone, and with it what was to be released
  }
}

CudaDeviceGuard::~CudaDeviceGuard() {
  CUcontext popped = nullptr;
  if (pushed_) static_cast<void>(driver().pop(&popped));
}

void* cuda_primary_context(int device) {
  static std::mutex mutex;
  static auto* const known = new std::map<int, CUcontext>;  // outlives what is destroyed at the process's end
  const std::lock_guard lock(mutex);
  CUcontext& context = (*known)[device];
  if (context == nullptr) {
    int count = 0;
    cuda_check(cudaGetDeviceCount(&count), "cudaGetDeviceCount");  // also what initialises the driver
    CUdevice handle = 0;
    check(driver().device_get(&handle, device), "cuDeviceGet");
    check(driver().retain(&context, handle), "cuDevicePrimaryCtxRetain");
  }
  return context;
}

void sleep_while_waiting_for_cuda(int device) {
  try {
    const CudaDeviceGuard guard(device);
    if (cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync) != cudaSuccess) static_cast<void>(cudaGetLastError());
  } catch (const CudaError&) {  // whoever uses the device reports it
  }
}

std::string cuda_fault(int device) {
  try {
    const CudaDeviceGuard guard(device);
    const cudaError_t state = cudaStreamQuery(cudaStreamPerThread);
    if (state == cudaSuccess || state == cudaErrorNotReady) return {};
    return reason("cudaStreamQuery", state);
  } catch (const CudaError& error) {
    return error.what();
  }
}

}  // namespace saccade
