// What the CUDA runtime says about this machine. Built with SACCADE_CUDA only; works, and says why not, without a
// driver.
#pragma once

#include <cstdint>
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

// Never throws for a missing driver or card: the status says it. Any thread.
CudaStatus query_cuda();

// Before the first allocation: threads that wait for the card sleep. FFmpeg insists on this of a primary context that
// it shares.
void share_primary_context();

// The error that an earlier call on the current device left behind for good (a lost device, an illegal address): no
// later call can succeed. Empty: there is none. Waits for nothing.
std::string cuda_fault();

}  // namespace saccade
