#include "kernels/cpu/ops.h"

namespace saccade {

CpuOps simd_ops() { return plain_ops(); }

}  // namespace saccade
