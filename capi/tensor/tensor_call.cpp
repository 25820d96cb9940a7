#include "capi/tensor/tensor_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "capi/structs.h"

namespace saccade::capi {

using tensor::ArrayView;
using tensor::Dtype;

saccade_place place_of(const char* function, const saccade_place* place) {
  require(place != nullptr, function, "place is NULL");
  return read(function, place);
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

void require_data(const char* function, const char* what, const void* data, std::initializer_list<std::int64_t> shape) {
  if (data != nullptr || std::find(shape.begin(), shape.end(), 0) != shape.end()) return;
  refuse(function, fmt::format("{} has no data", what));
}

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
  require_data(function, "an array", view.data, {view.batch, view.channels, view.height, view.width});
  constexpr std::int64_t kFarthest = std::numeric_limits<std::int32_t>::max();
  const auto reach = [](std::int64_t count, std::int64_t stride) {
    if (count < 2) return std::int64_t{0};
    if (stride < -kFarthest || stride > kFarthest) return kFarthest + 1;
    return (count - 1) * (stride < 0 ? -stride : stride);
  };
  const bool empty = view.batch == 0 || view.channels == 0 || view.height == 0 || view.width == 0;
  require(empty || reach(view.height, view.stride_y) + reach(view.width, view.stride_x) <= kFarthest, function,
          "a channel spans more than 2^31 elements");
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

tensor::PatchArray patches_of(const char* function, const saccade_array& array) {
  require_data(function, "the array of patches", array.data,
               {array.shape[0], array.shape[1], array.shape[2], array.shape[3], array.shape[4]});
  return {array.data,
          array.stride[0],
          array.stride[1],
          array.stride[2],
          array.stride[3],
          array.stride[4],
          dtype_of(function, array.dtype),
          0};
}

namespace {

tensor::PatchNumbers numbers_of(const saccade_array* array) {
  if (!is_given(array)) return {};
  return {array->data, array->stride[0], array->stride[1]};
}

void check_numbers(const char* function, const char* what, const saccade_array* array, const tensor::SampleArgs& args,
                   bool pairs) {
  require_data(function, what, array->data, {args.batch, args.count});
  require(array->shape[0] == args.batch && array->shape[1] == args.count, function,
          "centers, lod and direction must be [B, N, ...] as the patches");
  require(array->dtype == static_cast<std::int32_t>(args.coordinates), function,
          "centers, lod and direction must have one dtype, f32 or f64");
  require(!pairs || (array->shape[2] == 2 && array->stride[2] == 1), function,
          "centers and direction must be [B, N, 2], the last axis without gaps");
}

}  // namespace

tensor::SampleArgs sample_args(const char* function, const SampleCall& call) {
  require_levels(function, call.levels, call.count);
  const saccade_sample_options options = read(function, call.options);
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
  check_numbers(function, "centers", call.centers, args, true);
  check_numbers(function, "lod", call.lod, args, false);
  if (is_given(call.direction)) check_numbers(function, "direction", call.direction, args, true);
  args.centers = numbers_of(call.centers);
  args.lod = numbers_of(call.lod);
  args.direction = numbers_of(call.direction);
  args.patches = patches_of(function, *call.patches);
  require(options.padding >= SACCADE_PADDING_BORDER && options.padding <= SACCADE_PADDING_MIRROR, function,
          "padding is not a saccade_padding");
  args.padding = static_cast<tensor::Padding>(options.padding);
  args.nearest = options.nearest;
  args.max_anisotropy = options.max_anisotropy;
  require(args.max_anisotropy >= 1 && args.max_anisotropy <= 16, function, "max_anisotropy is not in 1 to 16");
  args.rotate = options.rotate;
  args.scale = options.scale;
  return args;
}

}  // namespace saccade::capi
