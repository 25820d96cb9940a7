// Plans on the device: a thread a number.
#include "gpu/cuda/error.h"
#include "kernels/tensor/plan.h"

namespace saccade::tensor::cuda {
namespace {

constexpr int kThreads = 256;

template <class V>
__global__ void __launch_bounds__(kThreads) plan_kernel(const __grid_constant__ PlanArgs args, std::int64_t numbers) {
  const std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (k < numbers) plan_one<V>(args, k);
}

}  // namespace

void plan(const PlanArgs& args, void* stream_handle) {
  const std::int64_t numbers = plan_numbers(args);
  if (numbers == 0) return;
  const auto stream = static_cast<cudaStream_t>(stream_handle);
  const auto blocks = static_cast<unsigned>((numbers + kThreads - 1) / kThreads);
  if (args.dtype == Dtype::kF64) {
    plan_kernel<double><<<blocks, kThreads, 0, stream>>>(args, numbers);
  } else {
    plan_kernel<float><<<blocks, kThreads, 0, stream>>>(args, numbers);
  }
  cuda_check_launch("plan", stream);
}

}  // namespace saccade::tensor::cuda
