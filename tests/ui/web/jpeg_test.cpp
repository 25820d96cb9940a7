// Pictures as OpenGL reads them, through the encoder and back by libjpeg-turbo's decoder.
#include "ui/web/jpeg.h"

#include <gtest/gtest.h>
#include <turbojpeg.h>

#include <cmath>

#include "ui/web/wire/frame_header.h"

namespace saccade::ui {
namespace {

struct Decoded {
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgb;  // origin top-left
};

Decoded decode(const std::uint8_t* bytes, std::size_t size) {
  const tjhandle handle = tjInitDecompress();
  Decoded out;
  int sampling = 0, space = 0;
  EXPECT_EQ(tjDecompressHeader3(handle, bytes, size, &out.width, &out.height, &sampling, &space), 0);
  out.rgb.resize(static_cast<std::size_t>(out.width) * static_cast<std::size_t>(out.height) * 3);
  EXPECT_EQ(tjDecompress2(handle, bytes, size, out.rgb.data(), out.width, 0, out.height, TJPF_RGB, TJFLAG_ACCURATEDCT),
            0);
  tjDestroy(handle);
  return out;
}

// Smooth, and each corner of its own.
void color_at(int x, int y, int width, int height, std::uint8_t rgb[3]) {
  rgb[0] = static_cast<std::uint8_t>(255 * x / width);
  rgb[1] = static_cast<std::uint8_t>(255 * y / height);
  rgb[2] = static_cast<std::uint8_t>(128 + 60 * std::sin(x * 0.05) * std::cos(y * 0.07));
}

GlPicture make_picture(int width, int height) {
  GlPicture picture{width, height, {}};
  picture.rgba.resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 4);
  for (int row = 0; row < height; ++row) {
    for (int x = 0; x < width; ++x) {
      const auto at =
          (static_cast<std::size_t>(row) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)) * 4;
      color_at(x, height - 1 - row, width, height, &picture.rgba[at]);
      picture.rgba[at + 3] = 77;  // means nothing
    }
  }
  return picture;
}

double psnr_db(const Decoded& decoded) {
  double sum = 0;
  std::uint8_t rgb[3];
  for (int y = 0; y < decoded.height; ++y) {
    for (int x = 0; x < decoded.width; ++x) {
      color_at(x, y, decoded.width, decoded.height, rgb);
      const auto at =
          (static_cast<std::size_t>(y) * static_cast<std::size_t>(decoded.width) + static_cast<std::size_t>(x)) * 3;
      for (std::size_t c = 0; c < 3; ++c) sum += std::pow(static_cast<double>(decoded.rgb[at + c]) - rgb[c], 2);
    }
  }
  return 10 * std::log10(255 * 255 / (sum / static_cast<double>(decoded.rgb.size())));
}

TEST(JpegEncoder, Picture_KeepsPlaceAndColor) {
  JpegEncoder encoder;
  for (const auto& [width, height] : {std::pair{320, 200}, {321, 201}, {16, 16}, {1, 1}, {1280, 720}}) {
    std::vector<std::uint8_t> bytes{1, 2, 3};  // what is there stays
    encoder.encode(make_picture(width, height), {.quality = 95, .full_chroma = true}, bytes);
    EXPECT_EQ(bytes[2], 3);
    const Decoded decoded = decode(bytes.data() + 3, bytes.size() - 3);
    ASSERT_EQ(decoded.width, width);
    ASSERT_EQ(decoded.height, height);
    EXPECT_GT(psnr_db(decoded), 42) << width << "x" << height;
  }
}

TEST(JpegEncoder, LowerQuality_TakesFewerBytes) {
  JpegEncoder encoder;
  const GlPicture picture = make_picture(640, 360);
  std::size_t before = SIZE_MAX;
  for (const int quality : {95, 60, 25}) {
    std::vector<std::uint8_t> bytes;
    encoder.encode(picture, {.quality = quality}, bytes);
    EXPECT_LT(bytes.size(), before);
    before = bytes.size();
  }
}

TEST(JpegEncoder, Half_IsTheSamePictureSmaller) {
  JpegEncoder encoder;
  for (const auto& [width, height] : {std::pair{640, 360}, {641, 361}, {1, 1}}) {
    std::vector<std::uint8_t> bytes;
    encoder.encode(make_picture(width, height), {.quality = 95, .full_chroma = true, .half = true}, bytes);
    const Decoded decoded = decode(bytes.data(), bytes.size());
    EXPECT_EQ(decoded.width, (width + 1) / 2);
    EXPECT_EQ(decoded.height, (height + 1) / 2);
    if (width > 1) {
      EXPECT_LT(decoded.rgb[0], 8);                         // left
      EXPECT_GT(decoded.rgb[decoded.rgb.size() - 3], 247);  // right
      EXPECT_GT(decoded.rgb[decoded.rgb.size() - 2], 247);  // below
    }
  }
}

TEST(FrameHeader, Packed_IsLittleEndian) {
  const auto bytes = pack({MessageKind::kPicture, kSharpRung, 0x01020304, 0x0a0b0c0d, 1280, 720, -2});
  const std::array<std::uint8_t, 32> expected{1,    1,    255,  0,    4,    3,    2,    1,    0x0d, 0x0c, 0x0b,
                                              0x0a, 0x00, 0x05, 0xd0, 0x02, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff,
                                              0xff, 0xff, 0,    0,    0,    0,    0,    0,    0,    0};
  EXPECT_EQ(bytes, expected);
}

}  // namespace
}  // namespace saccade::ui
