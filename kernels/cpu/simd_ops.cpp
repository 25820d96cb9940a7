#include "kernels/cpu/ops.h"

#include <hwy/highway.h>
#include <hwy/targets.h>

namespace saccade {

CpuOps simd_ops() {
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());  // function pointers are taken below, before any call
  CpuOps ops = plain_ops();
  use_simd_rows(ops);
  use_simd_mips(ops);
  use_simd_detail(ops);
  use_simd_errors(ops);
  use_simd_sampler(ops);
  return ops;
}

const char* simd_target() {
  // Better targets have lower bits; dynamic dispatch takes the best that is both compiled and supported.
  const auto usable = hwy::SupportedTargets() & HWY_TARGETS;
  return hwy::TargetName(usable & -usable);
}

}  // namespace saccade
