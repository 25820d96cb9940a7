// What the CUDA runtime says about this machine, and which device a call goes to. Built with SACCADE_CUDA only; asking
// works, and says why not, without a driver. A device is named by its ordinal: CUDA's count of what
// CUDA_VISIBLE_DEVICES leaves.
#pragma once

#include <cstdint>
#include <new>
#include <string>
#include <vector>

namespace saccade {

struct CudaDevice {
  std::string name;
  int compute_major = 0;
  int compute_minor = 0;
  std::int64_t memory_bytes = 0;
};

struct CudaStatus {
  int runtime_version = 0;  // 1000 * major + 10 * minor, as CUDA counts
  int driver_version = 0;   // the newest CUDA the driver speaks; 0: no driver
  std::vector<CudaDevice> devices;
  std::string error;  // why no device can be used; empty when one can
};

// Never throws for a missing driver or device: the status says it. Any thread.
CudaStatus query_cuda();

// While it lives, the runtime's calls on this thread go to the primary context of `device`. Afterwards the thread has
// the context that it had, also one of its caller's own: other users of CUDA in the process see nothing.
// Costs a look-up where that context is the current one.
// Throws CudaError; with std::nothrow, for destructors, it does what it can.
class CudaDeviceGuard {
 public:
  explicit CudaDeviceGuard(int device);
  CudaDeviceGuard(int device, const std::nothrow_t&) noexcept;
  ~CudaDeviceGuard();
  CudaDeviceGuard(const CudaDeviceGuard&) = delete;
  CudaDeviceGuard& operator=(const CudaDeviceGuard&) = delete;

 private:
  static bool is_current(int device);
  bool pushed_ = false;
};

// The CUcontext that all users of the CUDA runtime share on this device. Made when there is none yet, with the flags
// that the process has chosen, and kept to the process's end. Any thread. Throws CudaError.
void* cuda_primary_context(int device);

// For a program that owns its process, before its first other call: threads that wait for the device sleep, and leave
// their core to others. A setting of the whole process, so never a library's to make. Failures are ignored.
void sleep_while_waiting_for_cuda(int device);

// The error that an earlier call on the device left behind for good (a lost device, an illegal address): no later call
// can succeed. Empty: there is none. Waits for nothing.
std::string cuda_fault(int device);

}  // namespace saccade
