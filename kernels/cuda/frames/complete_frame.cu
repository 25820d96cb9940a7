#include <cstddef>

#include "gpu/cuda/device.h"
#include "gpu/cuda/error.h"
#include "kernels/cuda/frames/complete_frame.h"

namespace saccade::cuda {
namespace {

constexpr int kThreads = 256;
constexpr std::uint8_t kNoChroma = 128;

struct PackParams {
  const std::uint8_t* channel[3];
  long long pitch[3];  // bytes
  uchar4* to;
  int step;
  int width;
};

// A thread per pixel: a block's reads and its one write run along a row.
__global__ void __launch_bounds__(kThreads) pack_kernel(const __grid_constant__ PackParams params) {
  const int x = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
  const long long y = blockIdx.y;
  if (x >= params.width) return;
  const long long at = static_cast<long long>(x) * params.step;
  params.to[y * params.width + x] =
      make_uchar4(params.channel[0][y * params.pitch[0] + at], params.channel[1][y * params.pitch[1] + at],
                  params.channel[2][y * params.pitch[2] + at], 255);
}

std::size_t chroma_row_bytes(int width_px) { return static_cast<std::size_t>((width_px + 1) / 2) * 2; }

}  // namespace

CompletedFrame::CompletedFrame(int device, int width_px, int height_px, bool rgb)
    : device_(device),
      width_px_(width_px),
      height_px_(height_px),
      memory_(device, rgb ? static_cast<std::size_t>(width_px) * 4 * static_cast<std::size_t>(height_px)
                          : chroma_row_bytes(width_px) * static_cast<std::size_t>((height_px + 1) / 2)),
      before_(device) {}

void CompletedFrame::begin(void* stream) {
  if (last_ != nullptr && last_ != stream) {
    before_.record(static_cast<cudaStream_t>(last_));
    before_.make_wait(static_cast<cudaStream_t>(stream));
  }
  last_ = stream;
}

PlaneView CompletedFrame::pack(const RgbPlanes& from, void* stream) {
  const CudaDeviceGuard guard(device_);
  PackParams params{};
  for (int c = 0; c < 3; ++c) {
    params.channel[c] = from.channel[static_cast<std::size_t>(c)].data;
    params.pitch[c] = from.channel[static_cast<std::size_t>(c)].pitch_bytes;
  }
  params.to = memory_.as<uchar4>();
  params.step = from.step;
  params.width = width_px_;
  const dim3 grid(static_cast<unsigned>((width_px_ + kThreads - 1) / kThreads), static_cast<unsigned>(height_px_));
  pack_kernel<<<grid, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(params);
  cuda_check_launch("pack_kernel", static_cast<cudaStream_t>(stream));
  return {memory_.data(), static_cast<std::ptrdiff_t>(width_px_) * 4};
}

PlaneView CompletedFrame::gray_chroma(void* stream) {
  if (!filled_) {
    const CudaDeviceGuard guard(device_);
    cuda_check(cudaMemsetAsync(memory_.data(), kNoChroma, memory_.size_bytes(), static_cast<cudaStream_t>(stream)),
               "cudaMemsetAsync");
    filled_ = true;
  }
  return {memory_.data(), static_cast<std::ptrdiff_t>(chroma_row_bytes(width_px_))};
}

}  // namespace saccade::cuda
