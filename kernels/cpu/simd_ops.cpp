#include "kernels/cpu/simd_ops.h"

#include <hwy/highway.h>

namespace saccade {

CpuOps simd_ops() {
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());  // function pointers are taken below, before any call
  CpuOps ops = plain_ops();
  use_simd_rows(ops);
  use_simd_mips(ops);
  use_simd_sampler(ops);
  return ops;
}

}  // namespace saccade
