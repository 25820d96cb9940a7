// Tensors that the caller owns, as the operations of this folder take them: where they lie and what they hold.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__CUDACC__)
#define SACCADE_TENSOR_FN __host__ __device__ __forceinline__
#else
#define SACCADE_TENSOR_FN inline
#endif

namespace saccade::tensor {

enum class Dtype : std::int32_t { kU8 = 0, kF16 = 1, kF32 = 2, kU16 = 3, kBf16 = 4, kF64 = 5 };

constexpr std::size_t element_bytes(Dtype dtype) {
  switch (dtype) {
    case Dtype::kU8:
      return 1;
    case Dtype::kF16:
    case Dtype::kU16:
    case Dtype::kBf16:
      return 2;
    case Dtype::kF32:
      return 4;
    case Dtype::kF64:
      return 8;
  }
  return 0;
}

constexpr bool is_floating(Dtype dtype) { return dtype != Dtype::kU8 && dtype != Dtype::kU16; }

// [B, C, H, W], borrowed. Strides in elements, of any sign and size; 0 repeats. `data`: memory of the device that the
// operation runs on.
struct ArrayView {
  void* data = nullptr;
  Dtype dtype = Dtype::kF32;
  std::int32_t batch = 0, channels = 0, height = 0, width = 0;
  std::int64_t stride_b = 0, stride_c = 0, stride_y = 0, stride_x = 1;
};

inline constexpr int kMostLevels = 16;

// How sizes that 2 does not divide are halved: kFloor drops the last row or column, as avg_pool2d does; kEdge repeats
// it, so that every texel of the image counts.
enum class OddSizes : std::int32_t { kFloor = 0, kEdge = 1 };

// Texels of level `level` along an axis of `extent` texels at level 0.
SACCADE_TENSOR_FN constexpr int level_extent(int extent, int level, OddSizes odd) {
  const int whole = extent >> level;
  return odd == OddSizes::kEdge && (whole << level) != extent ? whole + 1 : whole;
}

}  // namespace saccade::tensor
