// A frame as level 0 has it, into plain memory: for the hand-over through a pixel buffer.
#include "gpu/cuda/error.h"
#include "kernels/cuda/launch/frame_source.cuh"
#include "kernels/cuda/launch/launch.h"

namespace saccade::cuda {
namespace {

constexpr int kColumns = 64;
constexpr int kRows = 4;

// Texel (x, y) of plane P: grid.z is the plane.
template <PixelLayout L, int P>
__device__ __forceinline__ void copy_texel(const SourceParams& frame, const PaddedCopy::Plane& plane, int x, int y) {
  using Format = FormatTraits<LayoutTraits<L>::kFormat>;
  using Plane = std::conditional_t<P == 0, typename Format::Luma, typename Format::Chroma>;
  constexpr bool kTwoPlanes = P == 1 && LayoutTraits<L>::kPlanar;
  const int from_x = min(x, plane.image_width - 1);
  const int from_y = min(y, plane.image_height - 1);
  std::uint8_t* to =
      plane.to + (static_cast<long long>(y) * plane.width + x) * static_cast<long long>(Plane::kTexelBytes);
#pragma unroll
  for (int c = 0; c < Plane::kChannels; ++c) {
    const int from = kTwoPlanes ? P + c : P;
    const int x_bytes = kTwoPlanes ? from_x * Plane::kBytes : from_x * Plane::kTexelBytes + c * Plane::kBytes;
    const std::uint32_t value =
        load_sample<Plane::kBytes>(frame.plane[from] + from_y * frame.pitch[from] + x_bytes, frame.shift);
    if constexpr (Plane::kBytes == 1) {
      to[c] = static_cast<std::uint8_t>(value);
    } else {
      reinterpret_cast<std::uint16_t*>(to)[c] = static_cast<std::uint16_t>(value);
    }
  }
}

template <PixelLayout L>
__global__ void copy_kernel(const __grid_constant__ SourceParams frame, const __grid_constant__ PaddedCopy copy) {
  const PaddedCopy::Plane& plane = copy.plane[blockIdx.z];
  const int x = static_cast<int>(blockIdx.x) * kColumns + static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(blockIdx.y) * kRows + static_cast<int>(threadIdx.y);
  if (x >= plane.width || y >= plane.height) return;
  if (blockIdx.z == 0) {
    copy_texel<L, 0>(frame, plane, x, y);
  } else if constexpr (!LayoutTraits<L>::kRgba) {
    copy_texel<L, 1>(frame, plane, x, y);
  }
}

template <PixelLayout L>
void copy_frame(const SourceParams& frame, const PaddedCopy& copy, cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>((copy.plane[0].width + kColumns - 1) / kColumns),
                  static_cast<unsigned>((copy.plane[0].height + kRows - 1) / kRows), LayoutTraits<L>::kRgba ? 1 : 2);
  copy_kernel<L><<<grid, dim3(kColumns, kRows), 0, stream>>>(frame, copy);
  cuda_check_launch("padded copy", stream);
}

}  // namespace

void launch_padded_copy(PixelLayout layout, const SourceParams& frame, const PaddedCopy& copy, cudaStream_t stream) {
  switch (layout) {
    case PixelLayout::kI420:
      return copy_frame<PixelLayout::kI420>(frame, copy, stream);
    case PixelLayout::kNv12:
      return copy_frame<PixelLayout::kNv12>(frame, copy, stream);
    case PixelLayout::kI420p16:
      return copy_frame<PixelLayout::kI420p16>(frame, copy, stream);
    case PixelLayout::kP016:
      return copy_frame<PixelLayout::kP016>(frame, copy, stream);
    case PixelLayout::kRgba8:
      return copy_frame<PixelLayout::kRgba8>(frame, copy, stream);
  }
}

}  // namespace saccade::cuda
