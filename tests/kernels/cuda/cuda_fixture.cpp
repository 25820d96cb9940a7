#include "tests/kernels/cuda/cuda_fixture.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <vector>

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

void CudaTest::SetUp() {
  int count = 0;
  const cudaError_t code = cudaGetDeviceCount(&count);
  if (code == cudaSuccess && count > 0) return;
  static_cast<void>(cudaGetLastError());
  testing::skip_or_fail("cuda", std::string("no CUDA device: ") + cudaGetErrorString(code));
}

PlacedFrame::PlacedFrame(const FrameView& frame, Where where, Rows rows) : view_(frame) {
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
    device_ = CudaBuffer(total);
    base = device_.data();
    cuda_check(cudaMemcpy(base, bytes.data(), total, cudaMemcpyHostToDevice), "cudaMemcpy");
    view_.space = MemorySpace::kCuda;
  } else {
    pinned_ = PinnedBuffer(total);
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

void disturb(TestFrame& frame, std::mt19937& rng, int one_in) {
  const FrameView& view = frame.view();
  std::uniform_int_distribution<int> dice(0, one_in - 1);
  for (int y = 0; y < view.height_px; y += kTilePx) {
    for (int x = 0; x < view.width_px; x += kTilePx) {
      const int x_end = std::min(x + kTilePx, view.width_px);
      const int y_end = std::min(y + kTilePx, view.height_px);
      if (dice(rng) == 0) frame.randomize(rng, x, y, x_end, y_end);
      if (dice(rng) != 0) continue;
      const int step = static_cast<int>(rng() % 12) + 1;
      std::uniform_int_distribution<int> one(0, 19);
      frame.for_each_sample(x, y, x_end, y_end, [&](int p, int sx, int sy, int c) {
        if (one(rng) != 0) return;
        const int code = frame.get(p, sx, sy, c) + step * (frame.max_code() > 255 ? 4 : 1);
        frame.set(p, sx, sy, c, std::min(code, frame.max_code()));
      });
    }
  }
}

void expect_same_damage(const Damage& cpu, const Damage& cuda, const std::string& what) {
  ASSERT_EQ(cpu.grid(), cuda.grid()) << what;
  EXPECT_EQ(cpu.count(), cuda.count()) << what;
  EXPECT_TRUE(std::ranges::equal(cpu.words(), cuda.words())) << what;
  for (int i = 0; i < cpu.grid().count(); ++i) {
    ASSERT_EQ(cpu.energy()[static_cast<std::size_t>(i)], cuda.energy()[static_cast<std::size_t>(i)])
        << what << ": energy of tile " << i % cpu.grid().cols << ", " << i / cpu.grid().cols;
  }
}

void expect_same_levels(const Pyramid& cpu, const Pyramid& cuda, const std::string& what) {
  LevelImage expected;
  LevelImage actual;
  for (int p = 0; p < cpu.layout().plane_count; ++p) {
    for (int l = 0; l < cpu.layout().planes[static_cast<std::size_t>(p)].levels; ++l) {
      cpu.read_level(p, l, expected);
      cuda.read_level(p, l, actual);
      ASSERT_EQ(expected.width, actual.width);
      ASSERT_EQ(expected.height, actual.height);
      if (expected.data == actual.data) continue;
      const auto at = std::ranges::mismatch(expected.data, actual.data).in1 - expected.data.begin();
      const int texel_bytes = expected.channels * expected.bytes_per_channel;
      FAIL() << what << ": plane " << p << " level " << l << " differs first at x " << at / texel_bytes % expected.width
             << " y " << at / texel_bytes / expected.width << ": " << int{expected.data[static_cast<std::size_t>(at)]}
             << " against " << int{actual.data[static_cast<std::size_t>(at)]};
    }
  }
}

}  // namespace saccade::test
