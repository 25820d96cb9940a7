#include "kernels/cuda/frames/rotate_frame.h"

#include <stdexcept>

#include "gpu/cuda/device.h"
#include "gpu/cuda/error.h"

namespace saccade {
namespace {

constexpr int kTile = 32;
constexpr int kRows = 8;  // of threads: each moves four texels

struct RotateParams {
  const std::uint8_t* from;
  std::uint8_t* to;
  long long from_pitch, to_pitch;  // bytes
  int width, height;               // texels of the rotated plane
  FrameRotation rotation;
};

// Texel: uint8_t, uint16_t or uint32_t, of one or two samples. Reads and writes run along rows;
// between them the tile is transposed.
template <typename Texel>
__global__ void rotate_kernel(const __grid_constant__ RotateParams params) {
  __shared__ Texel tile[kTile][kTile + 1];
  const int tx = static_cast<int>(threadIdx.x);
  const int x0 = static_cast<int>(blockIdx.x) * kTile;
  const int y0 = static_cast<int>(blockIdx.y) * kTile;
  for (int ty = static_cast<int>(threadIdx.y); ty < kTile; ty += kRows) {
    // The rotated texel that this thread fetches: down a column of the tile where rows become columns.
    const int i = params.rotation.transpose ? ty : tx;
    const int j = params.rotation.transpose ? tx : ty;
    const int x = x0 + i;
    const int y = y0 + j;
    if (x < params.width && y < params.height) {
      const int u = params.rotation.hflip ? params.width - 1 - x : x;
      const int v = params.rotation.vflip ? params.height - 1 - y : y;
      const int row = params.rotation.transpose ? u : v;
      const int column = params.rotation.transpose ? v : u;
      tile[j][i] = reinterpret_cast<const Texel*>(params.from + row * params.from_pitch)[column];
    }
  }
  __syncthreads();
  for (int ty = static_cast<int>(threadIdx.y); ty < kTile; ty += kRows) {
    const int x = x0 + tx;
    const int y = y0 + ty;
    if (x < params.width && y < params.height)
      reinterpret_cast<Texel*>(params.to + y * params.to_pitch)[x] = tile[ty][tx];
  }
}

template <typename Texel>
void rotate_plane(const PlaneView& from, std::uint8_t* to, std::ptrdiff_t to_pitch, int width, int height,
                  const FrameRotation& rotation, cudaStream_t stream) {
  const RotateParams params{from.data, to, from.pitch_bytes, to_pitch, width, height, rotation};
  const dim3 grid(static_cast<unsigned>((width + kTile - 1) / kTile),
                  static_cast<unsigned>((height + kTile - 1) / kTile));
  rotate_kernel<Texel><<<grid, dim3(kTile, kRows), 0, stream>>>(params);
  cuda_check_launch("rotate_kernel", stream);
}

}  // namespace

void rotate_frame(const FrameView& from, const DevicePlanes& to, const FrameRotation& rotation) {
  const bool wide = from.layout == PixelLayout::kP016;
  if ((from.layout != PixelLayout::kNv12 && !wide) || from.space != MemorySpace::kCuda || from.width_px % 2 != 0 ||
      from.height_px % 2 != 0) {
    throw std::invalid_argument("only NV12 and P016 frames of even size on a device are rotated there");
  }
  const CudaDeviceGuard guard(from.device);
  auto* stream = from.stream != nullptr ? static_cast<cudaStream_t>(from.stream) : cudaStreamPerThread;
  const int width = rotation.transpose ? from.height_px : from.width_px;
  const int height = rotation.transpose ? from.width_px : from.height_px;
  if (wide) {
    rotate_plane<std::uint16_t>(from.planes[0], to.plane[0], to.pitch_bytes[0], width, height, rotation, stream);
    rotate_plane<std::uint32_t>(from.planes[1], to.plane[1], to.pitch_bytes[1], width / 2, height / 2, rotation,
                                stream);
  } else {
    rotate_plane<std::uint8_t>(from.planes[0], to.plane[0], to.pitch_bytes[0], width, height, rotation, stream);
    rotate_plane<std::uint16_t>(from.planes[1], to.plane[1], to.pitch_bytes[1], width / 2, height / 2, rotation,
                                stream);
  }
  cuda_check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

}  // namespace saccade
