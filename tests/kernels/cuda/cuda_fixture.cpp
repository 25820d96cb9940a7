#include "tests/kernels/cuda/cuda_fixture.h"

#include <cuda_runtime_api.h>

#include <vector>

#include "gpu/cuda/device.h"
#include "gpu/cuda/error.h"
#include "tests/support/required.h"

namespace saccade::test {
namespace {

struct PlaneShape {
  std::size_t row_bytes = 0;
  std::size_t rows = 0;
};

std::vector<PlaneShape> shapes_of(const FrameView& frame) {
  const auto width = static_cast<std::size_t>(frame.width_px);
  const auto height = static_cast<std::size_t>(frame.height_px);
  const std::size_t bytes = is_wide(frame.layout) ? 2 : 1;
  if (frame.layout == PixelLayout::kRgba8) return {{width * 4, height}};
  const PlaneShape luma{width * bytes, height};
  const PlaneShape half{(width + 1) / 2 * bytes, (height + 1) / 2};
  if (frame.layout == PixelLayout::kI420 || frame.layout == PixelLayout::kI420p16) return {luma, half, half};
  return {luma, {2 * half.row_bytes, half.rows}};
}

std::size_t pitch_of(std::size_t row_bytes, Rows rows) {
  if (rows == Rows::kAligned || rows == Rows::kBottomUp) return (row_bytes + 255) / 256 * 256;
  if (rows == Rows::kWords) return (row_bytes + 15) / 16 * 16 + 4;
  return row_bytes;
}

}  // namespace

std::string why_no_cuda_device() {
  int count = 0;
  const cudaError_t code = cudaGetDeviceCount(&count);
  if (code == cudaSuccess && count > 0) return {};
  static_cast<void>(cudaGetLastError());
  return std::string("no CUDA device: ") + cudaGetErrorString(code);
}

void CudaTest::SetUp() {
  const std::string why = why_no_cuda_device();
  if (!why.empty()) testing::skip_or_fail("cuda", why);
}

PlacedFrame::PlacedFrame(const FrameView& frame, Where where, Rows rows, int device) : view_(frame) {
  const CudaDeviceGuard guard(device);
  const std::vector<PlaneShape> shapes = shapes_of(frame);
  std::vector<std::size_t> pitches;
  std::size_t total = 0;
  for (const PlaneShape& shape : shapes) {
    pitches.push_back(pitch_of(shape.row_bytes, rows));
    total += pitches.back() * shape.rows;
  }
  std::vector<std::uint8_t> bytes(total, 0x5a);
  std::size_t offset = 0;
  for (std::size_t p = 0; p < shapes.size(); ++p) {
    const PlaneView& from = frame.planes[p];
    for (std::size_t y = 0; y < shapes[p].rows; ++y) {
      const std::size_t row = rows == Rows::kBottomUp ? shapes[p].rows - 1 - y : y;
      std::memcpy(bytes.data() + offset + row * pitches[p],
                  from.data + static_cast<std::ptrdiff_t>(y) * from.pitch_bytes, shapes[p].row_bytes);
    }
    offset += pitches[p] * shapes[p].rows;
  }
  std::uint8_t* base = nullptr;
  if (where == Where::kDevice) {
    device_ = CudaBuffer(device, total);
    base = device_.data();
    cuda_check(cudaMemcpy(base, bytes.data(), total, cudaMemcpyHostToDevice), "cudaMemcpy");
    cuda_check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");  // pageable memory: it may be on its way still
    view_.space = MemorySpace::kCuda;
    view_.device = device;
  } else {
    pinned_ = PinnedBuffer(device, total);
    base = pinned_.data();
    std::memcpy(base, bytes.data(), total);
  }
  offset = 0;
  for (std::size_t p = 0; p < shapes.size(); ++p) {
    const auto pitch = static_cast<std::ptrdiff_t>(pitches[p]);
    if (rows == Rows::kBottomUp) {
      view_.planes[p] = {base + offset + (shapes[p].rows - 1) * pitches[p], -pitch};
    } else {
      view_.planes[p] = {base + offset, pitch};
    }
    offset += pitches[p] * shapes[p].rows;
  }
}

}  // namespace saccade::test
