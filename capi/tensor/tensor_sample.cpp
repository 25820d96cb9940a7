// Sampling of tensors, forward and backward: arguments checked, then the kernels of the place.
#include <cstring>

#include "capi/error.h"
#include "capi/tensor/tensor_call.h"
#include "kernels/tensor/reduce.h"
#include "kernels/tensor/sample.h"

namespace saccade::capi {
namespace {

using tensor::Dtype;

// The gradients of a sampling of an image whose levels were made by saccade_reduce().
struct ImageBack {
  tensor::SampleArgs args;
  tensor::SampleGradients gradients;  // of the levels' sums, and of the places
  tensor::ReduceGradArgs reduce;
  bool wants_image = false;
  bool in_place = false;  // the image's gradient takes level 0's sums itself, after the others were gathered
  void* sums = nullptr;
  std::size_t sums_bytes = 0;
};

// Where the levels' sums lie, one behind the other; returns their bytes.
std::size_t lay_out_sums(const tensor::SampleArgs& args, std::size_t element, ImageBack* back) {
  std::size_t at = 0;
  for (std::int32_t level = back->in_place ? 1 : 0; level < args.levels; ++level) {
    back->gradients.level[level] = back->sums != nullptr ? static_cast<std::byte*>(back->sums) + at : nullptr;
    back->reduce.level[level] = back->gradients.level[level];
    const auto texels =
        static_cast<std::size_t>(args.level[level].width) * static_cast<std::size_t>(args.level[level].height);
    at += element * texels * static_cast<std::size_t>(args.batch) * static_cast<std::size_t>(args.channels);
  }
  return at;
}

void set_image(const char* function, const saccade_array& base, std::int32_t odd, std::size_t sums_bytes,
               ImageBack* back) {
  const tensor::SampleArgs& args = back->args;
  back->wants_image = true;
  back->reduce.base = view_of(function, base);
  const tensor::ArrayView& view = back->reduce.base;
  require(view.dtype == args.dtype && tensor::is_floating(view.dtype), function,
          "base has not the levels' dtype, or they are integers");
  require(view.batch == args.batch && view.channels == args.channels && view.width == args.level[0].width &&
              view.height == args.level[0].height,
          function, "base has not the size of level 0");
  back->reduce.levels = args.levels;
  back->reduce.odd = odd_of(function, odd);
  for (std::int32_t level = 1; level < args.levels; ++level) {
    require(args.level[level].width == tensor::level_extent(view.width, level, back->reduce.odd) &&
                args.level[level].height == tensor::level_extent(view.height, level, back->reduce.odd),
            function, "a level has not the size that follows from level 0");
  }
  const bool is_double = view.dtype == Dtype::kF64;
  const bool fixed = back->gradients.fixed_point != 0;
  back->reduce.dtype = is_double ? Dtype::kF64 : Dtype::kF32;
  back->reduce.unit = back->gradients.unit;
  const auto dense = [&] {
    return view.stride_x == 1 && view.stride_y == view.width && view.stride_c == view.stride_y * view.height &&
           view.stride_b == view.stride_c * view.channels;
  };
  back->in_place = !fixed && (is_double || view.dtype == Dtype::kF32);
  require(!back->in_place || dense(), function, "base has gaps");
  back->sums_bytes = lay_out_sums(args, fixed || is_double ? 8 : 4, back);
  require(back->sums_bytes == 0 || (back->sums != nullptr && sums_bytes >= back->sums_bytes), function,
          "sums is smaller than the levels' sums");
}

// add(args, gradients, range), gather(reduce): the kernels of the place. The sums are 0.
template <class Add, class Gather>
void go_back(const ImageBack& back, const Add& add, const Gather& gather) {
  const std::int32_t last = back.args.levels - 1;
  if (!back.wants_image) return add(back.args, back.gradients, tensor::LevelRange{0, last});
  add(back.args, back.gradients, tensor::LevelRange{back.in_place ? 1 : 0, last});
  gather(back.reduce);
  if (!back.in_place) return;
  tensor::SampleGradients fine = {};
  fine.level[0] = back.reduce.base.data;
  add(back.args, fine, tensor::LevelRange{0, 0});
}

}  // namespace
}  // namespace saccade::capi

using namespace saccade;        // NOLINT: the C interface's own file
using namespace saccade::capi;  // NOLINT

extern "C" {

saccade_status saccade_sample(const saccade_place* place, const saccade_array* levels, int32_t count,
                              const saccade_array* centers, const saccade_array* lod, const saccade_array* direction,
                              const saccade_sample_options* options, const saccade_array* patches) {
  return guarded([&] {
    const char* function = "saccade_sample";
    const saccade_place at = place_of(function, place);
    const tensor::SampleArgs args = sample_args(function, {levels, count, centers, lod, direction, options, patches});
    return run_at(
        function, at, [&] { tensor::cpu::sample(args, at.threads); },
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
    const saccade_place at = place_of(function, place);
    const tensor::SampleArgs args = sample_args(function, {levels, count, centers, lod, direction, options, gradient});
    require(unit == nullptr || at.cuda != 0, function, "integer gradients are CUDA's alone");
    require(first_level >= 0 && last_level < count, function,
            "first_level to last_level are not among the levels, 0 to count - 1");
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
    return run_at(
        function, at, [&] { tensor::cpu::sample_backward(args, gradients, range, at.threads); },
        [&]([[maybe_unused]] void* stream) { tensor::cuda::sample_backward(args, gradients, range, stream); });
  });
}

saccade_status saccade_gradient_unit(const saccade_place* place, const saccade_array* gradient, double* unit) {
  return guarded([&] {
    const char* function = "saccade_gradient_unit";
    require(gradient != nullptr && unit != nullptr, function, "gradient or unit is NULL");
    const saccade_place at = place_of(function, place);
    require(at.cuda != 0, function, "integer gradients are CUDA's alone");
    const tensor::PatchArray patches = patches_of(function, *gradient);
    const auto size = [&](int axis) { return extent(function, gradient->shape[axis]); };
    return run_at(
        function, at, [] {},
        [&]([[maybe_unused]] void* stream) {
          tensor::cuda::gradient_unit(patches, size(0), size(1), size(2), size(4), unit, stream);
        });
  });
}

saccade_status saccade_sample_image_backward(const saccade_place* place, const saccade_array* levels, int32_t count,
                                             const saccade_array* centers, const saccade_array* lod,
                                             const saccade_array* direction, const saccade_sample_options* options,
                                             const saccade_array* gradient, int32_t odd, const saccade_array* base,
                                             void* sums, size_t sums_bytes, double* unit, void* centers_gradient,
                                             void* lod_gradient, void* direction_gradient) {
  return guarded([&] {
    const char* function = "saccade_sample_image_backward";
    const saccade_place at = place_of(function, place);
    require(unit == nullptr || at.cuda != 0, function, "integer gradients are CUDA's alone");
    ImageBack back;
    back.args = sample_args(function, {levels, count, centers, lod, direction, options, gradient});
    back.gradients = {};
    back.gradients.centers = centers_gradient;
    back.gradients.lod = lod_gradient;
    back.gradients.direction = direction_gradient;
    back.gradients.unit = unit;
    back.gradients.fixed_point = unit != nullptr ? 1 : 0;
    back.sums = sums;
    if (is_given(base)) set_image(function, *base, odd, sums_bytes, &back);
    return run_at(
        function, at,
        [&] {
          if (back.sums_bytes > 0) std::memset(sums, 0, back.sums_bytes);
          go_back(
              back,
              [&](const auto& args, const auto& gradients, tensor::LevelRange range) {
                tensor::cpu::sample_backward(args, gradients, range, at.threads);
              },
              [&](const auto& reduce) { tensor::cpu::reduce_backward(reduce, at.threads); });
        },
        [&]([[maybe_unused]] void* stream) {
          if (unit != nullptr) {
            const tensor::SampleArgs& args = back.args;
            tensor::cuda::gradient_unit(args.patches, args.batch, args.count, args.channels, args.size, unit, stream);
          }
          if (back.sums_bytes > 0) tensor::cuda::clear(sums, back.sums_bytes, stream);
          go_back(
              back,
              [&](const auto& args, const auto& gradients, tensor::LevelRange range) {
                tensor::cuda::sample_backward(args, gradients, range, stream);
              },
              [&](const auto& reduce) { tensor::cuda::reduce_backward(reduce, stream); });
        });
  });
}

}  // extern "C"
