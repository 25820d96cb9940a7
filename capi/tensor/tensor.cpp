// Operations on tensors: arguments checked, then the kernels of the place. Samples are in tensor_sample.cpp.
#include "capi/error.h"
#include "capi/structs.h"
#include "capi/tensor/tensor_call.h"
#include "kernels/tensor/gaussian.h"
#include "kernels/tensor/plan.h"
#include "kernels/tensor/reduce.h"
#include "kernels/tensor/update.h"

namespace saccade::capi {

static_assert(SACCADE_TILE_PX == tensor::kTilePx);

namespace {

using tensor::ArrayView;
using tensor::Dtype;

tensor::ReduceArgs reduce_args(const char* function, const saccade_place& place, const saccade_array* levels,
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
  const bool own = place.cuda == 0 && workspace == nullptr;  // the host has its own
  require(own || needed == 0 || (workspace != nullptr && workspace_bytes >= needed), function,
          "the workspace is smaller than saccade_reduce_workspace_bytes()");
  return args;
}

tensor::UpdateArgs update_args(const char* function, const tensor::ReduceArgs& texture, const saccade_array* frame,
                               const saccade_array* mask, const saccade_update_options& options) {
  require(options.mask_kind >= SACCADE_MASK_DIFF && options.mask_kind <= SACCADE_MASK_TILES, function,
          "mask_kind is none of those named in the header");
  tensor::UpdateArgs args;
  args.texture = texture;
  args.mask = static_cast<tensor::UpdateMask>(options.mask_kind);
  args.threshold = options.threshold * (texture.level[0].dtype == Dtype::kU16 ? 256 : 1);
  args.min_samples = options.min_samples;
  const ArrayView& base = texture.level[0];
  if (is_given(frame)) {
    args.frame = view_of(function, *frame);
    require(args.frame.dtype == base.dtype && args.frame.batch == base.batch && args.frame.channels == base.channels &&
                args.frame.height == base.height && args.frame.width == base.width,
            function, "the frame has not the size, dtype, batch and channels of level 0");
  }
  if (args.mask == tensor::UpdateMask::kDiff) {
    require(frame != nullptr, function, "without a mask there must be a frame");
    require_data(function, "the frame", frame->data, {base.batch, base.channels, base.height, base.width});
    return args;
  }
  require(mask != nullptr, function, "the mask is NULL");
  const bool by_tiles = args.mask == tensor::UpdateMask::kTiles;
  const std::int64_t rows = by_tiles ? tensor::tiles_across(base.height) : base.height;
  const std::int64_t cols = by_tiles ? tensor::tiles_across(base.width) : base.width;
  require(mask->shape[0] == base.batch && mask->shape[1] == rows && mask->shape[2] == cols, function,
          "the mask is not [B, H, W], or [B, rows, cols] of tiles");
  require_data(function, "the mask", mask->data, {base.batch, rows, cols});
  args.mask_data = static_cast<const std::uint8_t*>(mask->data);
  args.mask_b = mask->stride[0];
  args.mask_y = mask->stride[1];
  args.mask_x = mask->stride[2];
  return args;
}

tensor::GaussianArgs gaussian_args(const char* function, const saccade_gaussians* gaussians) {
  const saccade_gaussians given = read(function, gaussians);
  const Dtype dtype = dtype_of(function, given.dtype);
  require(dtype == Dtype::kF32 || dtype == Dtype::kF64, function, "Gaussians are f32 or f64");
  require(given.dimensions >= 1 && given.dimensions <= tensor::kMostDimensions, function,
          "the number of dimensions is not in 1 to 4");
  require(given.batch >= 0 && given.points >= 0 && given.gaussians >= 0 && given.channels >= 0, function,
          "a size is negative");
  return {given.x,     given.mean,   given.scale_tril, given.weight,     nullptr,        dtype,
          given.batch, given.points, given.gaussians,  given.dimensions, given.channels, given.most_q};
}

// Where every pair of a point and a Gaussian comes from.
void require_pairs(const char* function, const tensor::GaussianArgs& args) {
  require_data(function, "x", args.x, {args.batch, args.points});
  require_data(function, "mean", args.mean, {args.batch, args.gaussians});
  require_data(function, "scale_tril", args.scale_tril, {args.batch, args.gaussians});
}

// What a field is made from beside, in either direction; `values`: its own, or the gradient that comes in.
void require_field(const char* function, const saccade_place& place, const tensor::GaussianArgs& args,
                   [[maybe_unused]] const void* workspace, const char* what, const void* values) {
  require_pairs(function, args);
  require_data(function, "weight", args.weight, {args.batch, args.gaussians, args.channels});
  require_data(function, what, values, {args.batch, args.points, args.channels});
  if (place.cuda == 0 || workspace != nullptr) return;
#if defined(SACCADE_TENSOR_CUDA)
  require(tensor::cuda::gaussian_workspace_bytes(args) == 0, function, "the workspace is NULL");
#endif
}

}  // namespace
}  // namespace saccade::capi

using namespace saccade;        // NOLINT: the C interface's own file
using namespace saccade::capi;  // NOLINT

extern "C" {

size_t saccade_reduce_workspace_bytes(const saccade_array* base, int32_t count) {
  if (base == nullptr) return 0;
  const char* function = "saccade_reduce_workspace_bytes";
  try {
    tensor::ReduceArgs args;
    args.levels = count;
    args.level[0].dtype = dtype_of(function, base->dtype);
    args.level[0].batch = extent(function, base->shape[0]);
    args.level[0].channels = extent(function, base->shape[1]);
    args.level[0].height = extent(function, base->shape[2]);
    args.level[0].width = extent(function, base->shape[3]);
    return tensor::reduce_workspace_bytes(args);
  } catch (...) {
    return 0;  // the call itself says what is wrong
  }
}

saccade_status saccade_reduce(const saccade_place* place, const saccade_array* levels, int32_t count, int32_t odd,
                              void* workspace, size_t workspace_bytes) {
  return guarded([&] {
    const char* function = "saccade_reduce";
    const saccade_place at = place_of(function, place);
    const tensor::ReduceArgs args = reduce_args(function, at, levels, count, odd, workspace, workspace_bytes);
    return run_at(
        function, at, [&] { tensor::cpu::reduce(args, at.threads); },
        [&]([[maybe_unused]] void* stream) { tensor::cuda::reduce(args, stream); });
  });
}

saccade_status saccade_update(const saccade_place* place, const saccade_array* levels, int32_t count, void* workspace,
                              size_t workspace_bytes, const saccade_array* frame, const saccade_array* mask,
                              const saccade_update_options* options, uint8_t* tiles, float* energy) {
  return guarded([&] {
    const char* function = "saccade_update";
    const saccade_place at = place_of(function, place);
    const saccade_update_options asked = read(function, options);
    const tensor::ReduceArgs texture = reduce_args(function, at, levels, count, asked.odd, workspace, workspace_bytes);
    const ArrayView& base = texture.level[0];
    tensor::UpdateArgs args = update_args(function, texture, frame, mask, asked);
    require_data(function, "tiles", tiles, {base.batch, base.height, base.width});
    args.tiles = tiles;
    args.energy = energy;
    return run_at(
        function, at, [&] { tensor::cpu::update(args, at.threads); },
        [&]([[maybe_unused]] void* stream) { tensor::cuda::update(args, stream); });
  });
}

saccade_status saccade_reduce_backward(const saccade_place* place, const saccade_array* base,
                                       const saccade_array* levels, int32_t count, int32_t odd, const double* unit) {
  return guarded([&] {
    const char* function = "saccade_reduce_backward";
    const saccade_place at = place_of(function, place);
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
    require(unit == nullptr || at.cuda != 0, function, "integer gradients are CUDA's alone");
    return run_at(
        function, at, [&] { tensor::cpu::reduce_backward(args, at.threads); },
        [&]([[maybe_unused]] void* stream) { tensor::cuda::reduce_backward(args, stream); });
  });
}

size_t saccade_gaussian_workspace_bytes([[maybe_unused]] const saccade_place* place,
                                        [[maybe_unused]] const saccade_gaussians* gaussians) {
  [[maybe_unused]] const char* function = "saccade_gaussian_workspace_bytes";
#if defined(SACCADE_TENSOR_CUDA)
  try {
    if (place_of(function, place).cuda != 0) {
      return tensor::cuda::gaussian_workspace_bytes(gaussian_args(function, gaussians));
    }
  } catch (...) {  // the call itself says what is wrong
  }
#endif
  return 0;
}

saccade_status saccade_gaussian_field(const saccade_place* place, const saccade_gaussians* gaussians, void* workspace,
                                      void* out) {
  return guarded([&] {
    const char* function = "saccade_gaussian_field";
    const saccade_place at = place_of(function, place);
    tensor::GaussianArgs args = gaussian_args(function, gaussians);
    require_field(function, at, args, workspace, "out", out);
    args.out = out;
    return run_at(
        function, at, [&] { tensor::cpu::gaussian_field(args, at.threads); },
        [&]([[maybe_unused]] void* stream) { tensor::cuda::gaussian_field(args, workspace, stream); });
  });
}

saccade_status saccade_gaussian_field_backward(const saccade_place* place, const saccade_gaussians* gaussians,
                                               const void* gradient, void* workspace, void* x_gradient,
                                               void* mean_gradient, void* scale_tril_gradient, void* weight_gradient) {
  return guarded([&] {
    const char* function = "saccade_gaussian_field_backward";
    const saccade_place at = place_of(function, place);
    const tensor::GaussianArgs args = gaussian_args(function, gaussians);
    require_field(function, at, args, workspace, "gradient", gradient);
    const tensor::GaussianGradients gradients{gradient, x_gradient, mean_gradient, scale_tril_gradient,
                                              weight_gradient};
    return run_at(
        function, at, [&] { tensor::cpu::gaussian_field_backward(args, gradients, at.threads); },
        [&]([[maybe_unused]] void* stream) {
          tensor::cuda::gaussian_field_backward(args, gradients, workspace, stream);
        });
  });
}

saccade_status saccade_mahalanobis(const saccade_place* place, const saccade_gaussians* gaussians, void* out) {
  return guarded([&] {
    const char* function = "saccade_mahalanobis";
    const saccade_place at = place_of(function, place);
    tensor::GaussianArgs args = gaussian_args(function, gaussians);
    require_pairs(function, args);
    require_data(function, "out", out, {args.batch, args.points, args.gaussians});
    args.out = out;
    return run_at(
        function, at, [&] { tensor::cpu::mahalanobis(args, at.threads); },
        [&]([[maybe_unused]] void* stream) { tensor::cuda::mahalanobis(args, stream); });
  });
}

saccade_status saccade_lattice_plan_at(const saccade_place* place, int32_t dtype, const void* fixations,
                                       int32_t fixation_count, const void* at_px, int32_t patch_count, int32_t width_px,
                                       int32_t height_px, int32_t snap_px, void* centers) {
  return guarded([&] {
    const char* function = "saccade_lattice_plan_at";
    const saccade_place at = place_of(function, place);
    const Dtype kind = dtype_of(function, dtype);
    require(kind == Dtype::kF32 || kind == Dtype::kF64, function, "fixations are f32 or f64");
    require(fixation_count >= 0 && patch_count >= 0, function, "a number of fixations or patches is negative");
    require(width_px > 0 && height_px > 0 && snap_px >= 0, function, "the image has no pixels, or snap_px is negative");
    require_data(function, "fixations", fixations, {fixation_count, patch_count});
    require_data(function, "at_px", at_px, {fixation_count, patch_count});
    require_data(function, "centers", centers, {fixation_count, patch_count});
    const tensor::PlanArgs args{fixations,   at_px,    centers,   kind,   fixation_count,
                                patch_count, width_px, height_px, snap_px};
    return run_at(
        function, at, [&] { tensor::cpu::plan(args); },
        [&]([[maybe_unused]] void* stream) { tensor::cuda::plan(args, stream); });
  });
}

}  // extern "C"
