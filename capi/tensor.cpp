// Operations on tensors: arguments checked, then the kernels of the place.
#include <saccade/tensor.h>

#include <limits>

#include "capi/error.h"
#include "kernels/tensor/gaussian.h"
#include "kernels/tensor/reduce.h"
#include "kernels/tensor/sample.h"
#include "kernels/tensor/update.h"
#if defined(SACCADE_TENSOR_CUDA)
#include "gpu/cuda/device.h"
#endif

namespace saccade::capi {
namespace {

using tensor::ArrayView;
using tensor::Dtype;

bool on_cuda(const char* function, const saccade_place* place) {
  require(place != nullptr, function, "place is NULL");
  require(place->struct_size == sizeof(saccade_place), function, "place.struct_size is wrong");
  return place->cuda != 0;
}

// Runs `cuda(stream)` on the place's device, or `cpu()`.
template <class Cpu, class Cuda>
saccade_status run(const char* function, const saccade_place* place, const Cpu& cpu,
                   [[maybe_unused]] const Cuda& cuda) {
  if (!on_cuda(function, place)) {
    cpu();
    return SACCADE_OK;
  }
#if defined(SACCADE_TENSOR_CUDA)
  const CudaDeviceGuard guard(place->device);
  cuda(place->cuda_stream);
  return SACCADE_OK;
#else
  throw UnavailableError(std::string(function) + ": this build has no CUDA");
#endif
}

Dtype dtype_of(const char* function, std::int32_t dtype) {
  require(dtype >= 0 && dtype <= SACCADE_F64, function, "dtype is none of those named in the header");
  return static_cast<Dtype>(dtype);
}

std::int32_t extent(const char* function, std::int64_t value) {
  require(value >= 0 && value <= std::numeric_limits<std::int32_t>::max(), function,
          "a size is negative or greater than 2^31 - 1");
  return static_cast<std::int32_t>(value);
}

bool is_given(const saccade_array* array) { return array != nullptr && array->data != nullptr; }

ArrayView view_of(const char* function, const saccade_array& array) {
  ArrayView view;
  view.data = array.data;
  view.dtype = dtype_of(function, array.dtype);
  view.batch = extent(function, array.shape[0]);
  view.channels = extent(function, array.shape[1]);
  view.height = extent(function, array.shape[2]);
  view.width = extent(function, array.shape[3]);
  view.stride_b = array.stride[0];
  view.stride_c = array.stride[1];
  view.stride_y = array.stride[2];
  view.stride_x = array.stride[3];
  const bool empty = view.batch == 0 || view.channels == 0 || view.height == 0 || view.width == 0;
  require(view.data != nullptr || empty, function, "an array has no data");
  const auto reach = [](std::int64_t count, std::int64_t stride) {
    return (count - 1) * (stride < 0 ? -stride : stride);
  };
  require(empty || reach(view.height, view.stride_y) + reach(view.width, view.stride_x) <=
                       std::numeric_limits<std::int32_t>::max(),
          function, "a channel spans more than 2^31 elements");
  return view;
}

void require_levels(const char* function, const saccade_array* levels, std::int32_t count) {
  require(levels != nullptr, function, "levels is NULL");
  require(count >= 1 && count <= tensor::kMostLevels, function, "the number of levels is not in 1 to 16");
}

tensor::OddSizes odd_of(const char* function, std::int32_t odd) {
  require(odd == SACCADE_ODD_FLOOR || odd == SACCADE_ODD_EDGE, function, "odd is neither FLOOR nor EDGE");
  return static_cast<tensor::OddSizes>(odd);
}

tensor::PatchNumbers numbers_of(const saccade_array* array) {
  if (!is_given(array)) return {};
  return {array->data, array->stride[0], array->stride[1]};
}

tensor::PatchArray patches_of(const char* function, const saccade_array& array) {
  return {array.data,
          array.stride[0],
          array.stride[1],
          array.stride[2],
          array.stride[3],
          array.stride[4],
          dtype_of(function, array.dtype),
          0};
}

struct SampleCall {
  const saccade_array* levels;
  std::int32_t count;
  const saccade_array *centers, *lod, *direction;
  const saccade_sample_options* options;
  const saccade_array* patches;
};

void check_numbers(const char* function, const saccade_array* array, const tensor::SampleArgs& args, bool pairs) {
  require(array->shape[0] == args.batch && array->shape[1] == args.count, function,
          "centers, lod and direction must be [B, N, ...] as the patches");
  require(array->dtype == static_cast<std::int32_t>(args.coordinates), function,
          "centers, lod and direction must have one dtype, f32 or f64");
  require(!pairs || (array->shape[2] == 2 && array->stride[2] == 1), function,
          "centers and direction must be [B, N, 2], the last axis without gaps");
}

tensor::SampleArgs sample_args(const char* function, const SampleCall& call) {
  require_levels(function, call.levels, call.count);
  require(call.options != nullptr && call.options->struct_size == sizeof(saccade_sample_options), function,
          "options is NULL or its struct_size wrong");
  require(call.centers != nullptr && call.lod != nullptr && call.patches != nullptr, function,
          "centers, lod or patches is NULL");
  tensor::SampleArgs args = {};
  const ArrayView base = view_of(function, call.levels[0]);
  args.levels = call.count;
  args.dtype = base.dtype;
  args.batch = extent(function, call.patches->shape[0]);
  args.count = extent(function, call.patches->shape[1]);
  args.channels = extent(function, call.patches->shape[2]);
  args.size = extent(function, call.patches->shape[4]);
  require(call.patches->shape[3] == call.patches->shape[4], function, "patches are not square");
  require(base.batch == args.batch && base.channels == args.channels, function,
          "levels and patches differ in their batch or channels");
  for (std::int32_t level = 0; level < call.count; ++level) {
    const ArrayView view = view_of(function, call.levels[level]);
    require(view.dtype == args.dtype && view.batch == base.batch && view.channels == base.channels, function,
            "levels differ in their dtype, batch or channels");
    require(args.batch == 0 || args.channels == 0 || args.count == 0 || (view.width > 0 && view.height > 0), function,
            "a level has no texels");
    args.level[level] = {view.data,     view.stride_b, view.stride_c, view.stride_y,
                         view.stride_x, view.width,    view.height};
  }
  args.coordinates = dtype_of(function, call.centers->dtype);
  require(args.coordinates == Dtype::kF32 || args.coordinates == Dtype::kF64, function, "coordinates are f32 or f64");
  check_numbers(function, call.centers, args, true);
  check_numbers(function, call.lod, args, false);
  if (is_given(call.direction)) check_numbers(function, call.direction, args, true);
  args.centers = numbers_of(call.centers);
  args.lod = numbers_of(call.lod);
  args.direction = numbers_of(call.direction);
  args.patches = patches_of(function, *call.patches);
  args.zeros = call.options->zeros;
  args.max_anisotropy = call.options->max_anisotropy;
  require(args.max_anisotropy >= 1 && args.max_anisotropy <= 16, function, "max_anisotropy is not in 1 to 16");
  args.rotate = call.options->rotate;
  args.scale = call.options->scale;
  return args;
}

tensor::ReduceArgs reduce_args(const char* function, const saccade_place* place, const saccade_array* levels,
                               std::int32_t count, std::int32_t odd, void* workspace, std::size_t workspace_bytes) {
  require_levels(function, levels, count);
  tensor::ReduceArgs args;
  args.levels = count;
  args.odd = odd_of(function, odd);
  args.workspace = workspace;
  for (std::int32_t level = 0; level < count; ++level) {
    args.level[level] = view_of(function, levels[level]);
    const ArrayView& view = args.level[level];
    const ArrayView& base = args.level[0];
    require(view.dtype == base.dtype && view.batch == base.batch && view.channels == base.channels &&
                view.width == tensor::level_extent(base.width, level, args.odd) &&
                view.height == tensor::level_extent(base.height, level, args.odd),
            function, "a level has not the size, dtype, batch and channels that follow from level 0");
  }
  const std::size_t needed = tensor::reduce_workspace_bytes(args);
  require(place == nullptr || place->cuda == 0 || needed == 0 || (workspace != nullptr && workspace_bytes >= needed),
          function, "the workspace is smaller than saccade_reduce_workspace_bytes()");
  return args;
}

tensor::UpdateArgs update_args(const char* function, const tensor::ReduceArgs& texture, const saccade_array* frame,
                               const saccade_array* mask, const saccade_update_options* options) {
  require(options != nullptr && options->struct_size == sizeof(saccade_update_options), function,
          "options is NULL or its struct_size wrong");
  require(options->mask_kind >= SACCADE_MASK_DIFF && options->mask_kind <= SACCADE_MASK_TILES, function,
          "mask_kind is none of those named in the header");
  tensor::UpdateArgs args;
  args.texture = texture;
  args.mask = static_cast<tensor::UpdateMask>(options->mask_kind);
  args.threshold = options->threshold;
  args.min_pixels = options->min_pixels;
  const ArrayView& base = texture.level[0];
  if (is_given(frame)) {
    args.frame = view_of(function, *frame);
    require(args.frame.dtype == base.dtype && args.frame.batch == base.batch && args.frame.channels == base.channels &&
                args.frame.height == base.height && args.frame.width == base.width,
            function, "the frame has not the size, dtype, batch and channels of level 0");
  }
  const bool diff = args.mask == tensor::UpdateMask::kDiff;
  require(!diff || is_given(frame), function, "without a mask there must be a frame");
  require(diff || is_given(mask), function, "the mask is NULL");
  if (diff) return args;
  const bool by_tiles = args.mask == tensor::UpdateMask::kTiles;
  const std::int64_t rows = by_tiles ? tensor::tiles_across(base.height) : base.height;
  const std::int64_t cols = by_tiles ? tensor::tiles_across(base.width) : base.width;
  require(mask->shape[0] == base.batch && mask->shape[1] == rows && mask->shape[2] == cols, function,
          "the mask is not [B, H, W], or [B, rows, cols] of tiles");
  args.mask_data = static_cast<const std::uint8_t*>(mask->data);
  args.mask_b = mask->stride[0];
  args.mask_y = mask->stride[1];
  args.mask_x = mask->stride[2];
  return args;
}

tensor::GaussianArgs gaussian_args(const char* function, const saccade_gaussians* given) {
  require(given != nullptr && given->struct_size == sizeof(saccade_gaussians), function,
          "gaussians is NULL or its struct_size wrong");
  const Dtype dtype = dtype_of(function, given->dtype);
  require(dtype == Dtype::kF32 || dtype == Dtype::kF64, function, "Gaussians are f32 or f64");
  require(given->dimensions >= 1 && given->dimensions <= tensor::kMostDimensions, function,
          "the number of dimensions is not in 1 to 4");
  require(given->batch >= 0 && given->points >= 0 && given->gaussians >= 0 && given->channels >= 0, function,
          "a size is negative");
  return {given->x,     given->mean,   given->scale_tril, given->weight,     nullptr,         dtype,
          given->batch, given->points, given->gaussians,  given->dimensions, given->channels, given->most_q};
}

}  // namespace
}  // namespace saccade::capi

using namespace saccade;        // NOLINT: the C interface's own file
using namespace saccade::capi;  // NOLINT

extern "C" {

size_t saccade_reduce_workspace_bytes(const saccade_array* base, int32_t count) {
  if (base == nullptr || base->dtype < 0 || base->dtype > SACCADE_F64) return 0;
  tensor::ReduceArgs args;
  args.levels = count;
  args.level[0].dtype = static_cast<tensor::Dtype>(base->dtype);
  args.level[0].batch = static_cast<std::int32_t>(base->shape[0]);
  args.level[0].channels = static_cast<std::int32_t>(base->shape[1]);
  args.level[0].height = static_cast<std::int32_t>(base->shape[2]);
  args.level[0].width = static_cast<std::int32_t>(base->shape[3]);
  return tensor::reduce_workspace_bytes(args);
}

saccade_status saccade_reduce(const saccade_place* place, const saccade_array* levels, int32_t count, int32_t odd,
                              void* workspace, size_t workspace_bytes) {
  return guarded([&] {
    const char* function = "saccade_reduce";
    const tensor::ReduceArgs args = reduce_args(function, place, levels, count, odd, workspace, workspace_bytes);
    return run(
        function, place, [&] { tensor::cpu::reduce(args, place->threads); },
        [&]([[maybe_unused]] void* stream) { tensor::cuda::reduce(args, stream); });
  });
}

saccade_status saccade_update(const saccade_place* place, const saccade_array* levels, int32_t count, void* workspace,
                              size_t workspace_bytes, const saccade_array* frame, const saccade_array* mask,
                              const saccade_update_options* options, uint8_t* tiles, float* energy) {
  return guarded([&] {
    const char* function = "saccade_update";
    require(options != nullptr && tiles != nullptr, function, "options or tiles is NULL");
    const tensor::ReduceArgs texture =
        reduce_args(function, place, levels, count, options->odd, workspace, workspace_bytes);
    tensor::UpdateArgs args = update_args(function, texture, frame, mask, options);
    args.tiles = tiles;
    args.energy = energy;
    return run(
        function, place, [&] { tensor::cpu::update(args); },
        [&]([[maybe_unused]] void* stream) { tensor::cuda::update(args, stream); });
  });
}

saccade_status saccade_reduce_backward(const saccade_place* place, const saccade_array* base,
                                       const saccade_array* levels, int32_t count, int32_t odd, const double* unit) {
  return guarded([&] {
    const char* function = "saccade_reduce_backward";
    require_levels(function, levels, count);
    require(base != nullptr, function, "base is NULL");
    tensor::ReduceGradArgs args;
    args.base = view_of(function, *base);
    args.levels = count;
    args.odd = odd_of(function, odd);
    args.unit = unit;
    require(tensor::is_floating(args.base.dtype), function, "integers have no gradient");
    bool any = false;
    for (int32_t level = 0; level < count; ++level) {
      args.level[level] = levels[level].data;
      if (levels[level].data == nullptr || unit != nullptr) continue;
      const Dtype dtype = dtype_of(function, levels[level].dtype);
      require(!any || dtype == args.dtype, function, "the levels' gradients differ in their dtype");
      args.dtype = dtype;
      any = true;
    }
    const Dtype wide = args.base.dtype == Dtype::kF64 ? Dtype::kF64 : Dtype::kF32;
    if (!any) args.dtype = wide;
    require(args.dtype == args.base.dtype || args.dtype == wide, function,
            "the levels' gradients must have the base's dtype, or f32 (f64 for f64)");
    require(unit == nullptr || (place != nullptr && place->cuda != 0), function, "integer gradients are CUDA's alone");
    return run(
        function, place, [&] { tensor::cpu::reduce_backward(args, place->threads); },
        [&]([[maybe_unused]] void* stream) { tensor::cuda::reduce_backward(args, stream); });
  });
}

saccade_status saccade_sample(const saccade_place* place, const saccade_array* levels, int32_t count,
                              const saccade_array* centers, const saccade_array* lod, const saccade_array* direction,
                              const saccade_sample_options* options, const saccade_array* patches) {
  return guarded([&] {
    const char* function = "saccade_sample";
    const tensor::SampleArgs args = sample_args(function, {levels, count, centers, lod, direction, options, patches});
    return run(
        function, place, [&] { tensor::cpu::sample(args, place->threads); },
        [&]([[maybe_unused]] void* stream) { tensor::cuda::sample(args, stream); });
  });
}

saccade_status saccade_sample_backward(const saccade_place* place, const saccade_array* levels, int32_t count,
                                       const saccade_array* centers, const saccade_array* lod,
                                       const saccade_array* direction, const saccade_sample_options* options,
                                       const saccade_array* gradient, const saccade_array* level_gradients,
                                       int32_t first_level, int32_t last_level, const double* unit,
                                       void* centers_gradient, void* lod_gradient, void* direction_gradient) {
  return guarded([&] {
    const char* function = "saccade_sample_backward";
    const tensor::SampleArgs args = sample_args(function, {levels, count, centers, lod, direction, options, gradient});
    require(unit == nullptr || (place != nullptr && place->cuda != 0), function, "integer gradients are CUDA's alone");
    tensor::SampleGradients gradients = {};
    for (int32_t level = 0; level_gradients != nullptr && level < count; ++level) {
      gradients.level[level] = level_gradients[level].data;
    }
    gradients.centers = centers_gradient;
    gradients.lod = lod_gradient;
    gradients.direction = direction_gradient;
    gradients.unit = unit;
    gradients.fixed_point = unit != nullptr ? 1 : 0;
    const tensor::LevelRange range{first_level, last_level};
    return run(
        function, place, [&] { tensor::cpu::sample_backward(args, gradients, range, place->threads); },
        [&]([[maybe_unused]] void* stream) { tensor::cuda::sample_backward(args, gradients, range, stream); });
  });
}

saccade_status saccade_gradient_unit(const saccade_place* place, const saccade_array* gradient, double* unit) {
  return guarded([&] {
    const char* function = "saccade_gradient_unit";
    require(gradient != nullptr && unit != nullptr, function, "gradient or unit is NULL");
    require(place != nullptr && place->cuda != 0, function, "integer gradients are CUDA's alone");
    const tensor::PatchArray patches = patches_of(function, *gradient);
    const auto size = [&](int axis) { return extent(function, gradient->shape[axis]); };
    return run(
        function, place, [] {},
        [&]([[maybe_unused]] void* stream) {
          tensor::cuda::gradient_unit(patches, size(0), size(1), size(2), size(4), unit, stream);
        });
  });
}

size_t saccade_gaussian_workspace_bytes(const saccade_place* place, const saccade_gaussians* gaussians) {
  if (place == nullptr || gaussians == nullptr || place->cuda == 0) return 0;
#if defined(SACCADE_TENSOR_CUDA)
  try {
    return tensor::cuda::gaussian_workspace_bytes(gaussian_args("saccade_gaussian_workspace_bytes", gaussians));
  } catch (...) {
    return 0;  // the call itself says what is wrong
  }
#else
  return 0;
#endif
}

saccade_status saccade_gaussian_field(const saccade_place* place, const saccade_gaussians* gaussians, void* workspace,
                                      void* out) {
  return guarded([&] {
    const char* function = "saccade_gaussian_field";
    tensor::GaussianArgs args = gaussian_args(function, gaussians);
    args.out = out;
    return run(
        function, place, [&] { tensor::cpu::gaussian_field(args, place->threads); },
        [&]([[maybe_unused]] void* stream) { tensor::cuda::gaussian_field(args, workspace, stream); });
  });
}

saccade_status saccade_gaussian_field_backward(const saccade_place* place, const saccade_gaussians* gaussians,
                                               const void* gradient, void* workspace, void* x_gradient,
                                               void* mean_gradient, void* scale_tril_gradient, void* weight_gradient) {
  return guarded([&] {
    const char* function = "saccade_gaussian_field_backward";
    const tensor::GaussianArgs args = gaussian_args(function, gaussians);
    const tensor::GaussianGradients gradients{gradient, x_gradient, mean_gradient, scale_tril_gradient,
                                              weight_gradient};
    return run(
        function, place, [&] { tensor::cpu::gaussian_field_backward(args, gradients, place->threads); },
        [&]([[maybe_unused]] void* stream) {
          tensor::cuda::gaussian_field_backward(args, gradients, workspace, stream);
        });
  });
}

saccade_status saccade_mahalanobis(const saccade_place* place, const saccade_gaussians* gaussians, void* out) {
  return guarded([&] {
    const char* function = "saccade_mahalanobis";
    tensor::GaussianArgs args = gaussian_args(function, gaussians);
    args.out = out;
    return run(
        function, place, [&] { tensor::cpu::mahalanobis(args, place->threads); },
        [&]([[maybe_unused]] void* stream) { tensor::cuda::mahalanobis(args, stream); });
  });
}

}  // extern "C"
