// What the operations on tensors share: places and arrays of the caller, checked.
#pragma once

#include <saccade/tensor.h>

#include <cstdint>
#include <initializer_list>
#include <string>

#include "capi/error.h"
#include "kernels/tensor/reduce.h"
#include "kernels/tensor/sample_args.h"
#if defined(SACCADE_TENSOR_CUDA)
#include "gpu/cuda/device.h"
#endif

namespace saccade::capi {

saccade_place place_of(const char* function, const saccade_place* place);

// Runs `cuda(stream)` on the place's device, or `cpu()`.
template <class Cpu, class Cuda>
saccade_status run_at([[maybe_unused]] const char* function, const saccade_place& place, const Cpu& cpu,
                      [[maybe_unused]] const Cuda& cuda) {
  if (place.cuda == 0) {
    cpu();
    return SACCADE_OK;
  }
#if defined(SACCADE_TENSOR_CUDA)
  const CudaDeviceGuard guard(place.device);
  cuda(place.cuda_stream);
  return SACCADE_OK;
#else
  throw UnavailableError(std::string(function) + ": this build has no CUDA");
#endif
}

tensor::Dtype dtype_of(const char* function, std::int32_t dtype);
std::int32_t extent(const char* function, std::int64_t value);
bool is_given(const saccade_array* array);
// Throws UsageError("FUNCTION: WHAT has no data") for a NULL, unless one of the extents is 0.
void require_data(const char* function, const char* what, const void* data, std::initializer_list<std::int64_t> shape);
tensor::ArrayView view_of(const char* function, const saccade_array& array);
void require_levels(const char* function, const saccade_array* levels, std::int32_t count);
tensor::OddSizes odd_of(const char* function, std::int32_t odd);

// What a sampling is given, forward or backward; `patches`: the result, or the gradient that comes in.
struct SampleCall {
  const saccade_array* levels;
  std::int32_t count;
  const saccade_array *centers, *lod, *direction;
  const saccade_sample_options* options;
  const saccade_array* patches;
};
tensor::SampleArgs sample_args(const char* function, const SampleCall& call);
// [B, N, C, S, S] with its data.
tensor::PatchArray patches_of(const char* function, const saccade_array& array);

}  // namespace saccade::capi
