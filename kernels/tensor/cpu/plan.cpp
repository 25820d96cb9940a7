// Plans on the host, one number after the other.
#include "kernels/tensor/plan.h"

namespace saccade::tensor::cpu {

void plan(const PlanArgs& args) {
  const bool wide = args.dtype == Dtype::kF64;
  for (std::int64_t k = 0; k < plan_numbers(args); ++k) wide ? plan_one<double>(args, k) : plan_one<float>(args, k);
}

}  // namespace saccade::tensor::cpu
