#include "kernels/cuda/turn_frame.h"

#include <stdexcept>

#include "gpu/cuda/device.h"
#include "gpu/cuda/error.h"

namespace saccade {
namespace {

constexpr int kTile = 32;
constexpr int kRows = 8;  // of threads: each moves four texels

struct TurnParams {
  const std::uint8_t* from;
  std::uint8_t* to;
  long long from_pitch, to_pitch;  // bytes
  int width, height;               // texels of the turned plane
  FrameTurn turn;
};

// Texel: uint8_t, uint16_t or uint32_t, of one or two samples. Reads and writes run along rows; the tile turns between.
template <typename Texel>
__global__ void turn_kernel(const __grid_constant__ TurnParams params) {
  __shared__ Texel tile[kTile][kTile + 1];
  const int tx = static_cast<int>(threadIdx.x);
  const int x0 = static_cast<int>(blockIdx.x) * kTile;
  const int y0 = static_cast<int>(blockIdx.y) * kTile;
  for (int ty = static_cast<int>(threadIdx.y); ty < kTile; ty += kRows) {
    // The turned texel that this thread fetches: down a column of the tile where rows become columns.
    const int i = params.turn.transpose ? ty : tx;
    const int j = params.turn.transpose ? tx : ty;
    const int x = x0 + i;
    const int y = y0 + j;
    if (x < params.width && y < params.height) {
      const int u = params.turn.hflip ? params.width - 1 - x : x;
      const int v = params.turn.vflip ? params.height - 1 - y : y;
      const int row = params.turn.transpose ? u : v;
      const int column = params.turn.transpose ? v : u;
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
void turn_plane(const PlaneView& from, std::uint8_t* to, std::ptrdiff_t to_pitch, int width, int height,
                const FrameTurn& turn, cudaStream_t stream) {
  const TurnParams params{from.data, to, from.pitch_bytes, to_pitch, width, height, turn};
  const dim3 grid(static_cast<unsigned>((width + kTile - 1) / kTile),
                  static_cast<unsigned>((height + kTile - 1) / kTile));
  turn_kernel<Texel><<<grid, dim3(kTile, kRows), 0, stream>>>(params);
  cuda_check_launch("turn_kernel", stream);
}

}  // namespace

void turn_frame(const FrameView& from, const DevicePlanes& to, const FrameTurn& turn) {
  const bool wide = from.layout == PixelLayout::kP016;
  if ((from.layout != PixelLayout::kNv12 && !wide) || from.space != MemorySpace::kCuda || from.width_px % 2 != 0 ||
      from.height_px % 2 != 0) {
    throw std::invalid_argument("only NV12 and P016 frames of even size on a device are turned there");
  }
  const CudaDeviceGuard guard(from.device);
  auto* stream = from.stream != nullptr ? static_cast<cudaStream_t>(from.stream) : cudaStreamPerThread;
  const int width = turn.transpose ? from.height_px : from.width_px;
  const int height = turn.transpose ? from.width_px : from.height_px;
  if (wide) {
    turn_plane<std::uint16_t>(from.planes[0], to.plane[0], to.pitch_bytes[0], width, height, turn, stream);
    turn_plane<std::uint32_t>(from.planes[1], to.plane[1], to.pitch_bytes[1], width / 2, height / 2, turn, stream);
  } else {
    turn_plane<std::uint8_t>(from.planes[0], to.plane[0], to.pitch_bytes[0], width, height, turn, stream);
    turn_plane<std::uint16_t>(from.planes[1], to.plane[1], to.pitch_bytes[1], width / 2, height / 2, turn, stream);
  }
  cuda_check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

}  // namespace saccade
