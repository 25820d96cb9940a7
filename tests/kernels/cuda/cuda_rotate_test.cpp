// Rotated frames against a loop over their definition.
#include <array>

#include "gpu/cuda/error.h"
#include "kernels/cuda/frames/rotate_frame.h"
#include "tests/kernels/cuda/cuda_fixture.h"

namespace saccade::test {
namespace {

class CudaRotate : public CudaTest {};

template <typename Texel>
std::vector<Texel> fetch(const std::uint8_t* from, std::ptrdiff_t pitch, int width, int height) {
  std::vector<Texel> texels(static_cast<std::size_t>(width * height));
  const std::size_t row_bytes = static_cast<std::size_t>(width) * sizeof(Texel);
  cuda_check(cudaMemcpy2D(texels.data(), row_bytes, from, static_cast<std::size_t>(pitch), row_bytes,
                          static_cast<std::size_t>(height), cudaMemcpyDeviceToHost),
             "cudaMemcpy2D");
  return texels;
}

template <typename Texel>
void expect_rotated(const PlaneView& from, const std::uint8_t* to, std::ptrdiff_t to_pitch, int width, int height,
                    const FrameRotation& rotation) {
  const int from_width = rotation.transpose ? height : width;
  const int from_height = rotation.transpose ? width : height;
  const std::vector<Texel> before = fetch<Texel>(from.data, from.pitch_bytes, from_width, from_height);
  const std::vector<Texel> after = fetch<Texel>(to, to_pitch, width, height);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const int u = rotation.hflip ? width - 1 - x : x;
      const int v = rotation.vflip ? height - 1 - y : y;
      const int at = rotation.transpose ? u * from_width + v : v * from_width + u;
      ASSERT_EQ(after[static_cast<std::size_t>(y * width + x)], before[static_cast<std::size_t>(at)])
          << x << ", " << y << " transposed " << rotation.transpose << " mirrored " << rotation.hflip << rotation.vflip;
    }
  }
}

TEST_F(CudaRotate, EachOfEightWays_IsTrue) {
  std::mt19937 rng(3);
  for (const PixelLayout layout : {PixelLayout::kNv12, PixelLayout::kP016}) {
    for (const auto& [w, h] : {std::pair{2, 2}, {70, 34}, {320, 180}, {1080, 606}}) {
      TestFrame frame(layout, w, h);
      frame.randomize(rng);
      const PlacedFrame placed(frame.view(), PlacedFrame::Where::kDevice, Rows::kAligned);
      for (int way = 0; way < 8; ++way) {
        const FrameRotation rotation{(way & 1) != 0, (way & 2) != 0, (way & 4) != 0};
        const int width = rotation.transpose ? h : w;
        const int height = rotation.transpose ? w : h;
        const auto pitch = static_cast<std::ptrdiff_t>((2 * width + 255) / 256 * 256);
        const CudaBuffer luma(0, static_cast<std::size_t>(pitch * height));
        const CudaBuffer chroma(0, static_cast<std::size_t>(pitch * height / 2));
        rotate_frame(placed.view(), {{luma.data(), chroma.data()}, {pitch, pitch}}, rotation);
        if (layout == PixelLayout::kNv12) {
          expect_rotated<std::uint8_t>(placed.view().planes[0], luma.data(), pitch, width, height, rotation);
          expect_rotated<std::uint16_t>(placed.view().planes[1], chroma.data(), pitch, width / 2, height / 2, rotation);
        } else {
          expect_rotated<std::uint16_t>(placed.view().planes[0], luma.data(), pitch, width, height, rotation);
          expect_rotated<std::uint32_t>(placed.view().planes[1], chroma.data(), pitch, width / 2, height / 2, rotation);
        }
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_F(CudaRotate, OtherFrames_AreRefused) {
  const TestFrame host(PixelLayout::kNv12, 64, 64);
  EXPECT_THROW(rotate_frame(host.view(), {}, {}), std::invalid_argument);
  const TestFrame planar(PixelLayout::kI420, 64, 64);
  const PlacedFrame placed(planar.view(), PlacedFrame::Where::kDevice, Rows::kAligned);
  EXPECT_THROW(rotate_frame(placed.view(), {}, {}), std::invalid_argument);
}

}  // namespace
}  // namespace saccade::test
