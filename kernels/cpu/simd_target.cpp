#include "kernels/cpu/simd_target.h"

#include <hwy/targets.h>

namespace saccade {

const char* simd_target() {
  // Better targets have lower bits; dynamic dispatch takes the best that is both compiled and supported.
  const auto usable = hwy::SupportedTargets() & HWY_TARGETS;
  return hwy::TargetName(usable & -usable);
}

}  // namespace saccade
