#include "tests/support/device_trap.h"

namespace saccade::test {
namespace {

__global__ void trap_kernel() { __trap(); }

}  // namespace

void trap_device() {
  trap_kernel<<<1, 1>>>();
  static_cast<void>(cudaDeviceSynchronize());  // the fault stays for the next call
}

}  // namespace saccade::test
