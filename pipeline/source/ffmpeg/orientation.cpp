#include "pipeline/source/ffmpeg/orientation.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "pipeline/source/ffmpeg/versions.h"

namespace saccade {
namespace {

constexpr double kTolerance = 0.0175;  // sine of one degree
constexpr std::size_t kMatrixBytes = sizeof(DisplayMatrix);

}  // namespace

// A transposition is a rotation by 90 degrees clockwise, then a horizontal mirror; a vertical mirror is one by 180
// degrees, then a horizontal mirror.
int Orientation::rotation_deg() const {
  if (transpose) return vflip ? 270 : 90;
  return vflip ? 180 : 0;
}

bool Orientation::mirrored() const { return transpose ? hflip == vflip : hflip != vflip; }

std::string Orientation::filters() const {
  if (transpose) {
    const char* direction = hflip ? (vflip ? "clock_flip" : "clock") : (vflip ? "cclock" : "cclock_flip");
    return std::string("transpose=") + direction;
  }
  std::string chain;
  if (hflip) chain = "hflip";
  if (vflip) chain += chain.empty() ? "vflip" : ",vflip";
  return chain;
}

// A transposition moves the mirrors before it to the other axis.
Orientation Orientation::then(const Orientation& next) const {
  Orientation both = *this;
  if (next.transpose) {
    both.transpose = !both.transpose;
    std::swap(both.hflip, both.vflip);
  }
  both.hflip = both.hflip != next.hflip;
  both.vflip = both.vflip != next.vflip;
  return both;
}

// A point (x, y) goes to (a x + c y, b x + d y), with a = m[0], b = m[1], c = m[3], d = m[4].
MatrixKind read_display_matrix(const std::int32_t* matrix, Orientation& out) {
  out = {};
  const double a = matrix[0], b = matrix[1], c = matrix[3], d = matrix[4];
  if (a * d - b * c == 0.0) return MatrixKind::kDegenerate;
  const double x_length = std::hypot(a, b);
  const double y_length = std::hypot(c, d);
  if (std::abs(b) <= kTolerance * x_length && std::abs(c) <= kTolerance * y_length) {
    out = {false, a < 0, d < 0};
    return MatrixKind::kUpright;
  }
  if (std::abs(a) <= kTolerance * x_length && std::abs(d) <= kTolerance * y_length) {
    out = {true, c < 0, b < 0};
    return MatrixKind::kUpright;
  }
  return MatrixKind::kOblique;
}

DisplayMatrix display_matrix(const Orientation& orientation) {
  constexpr std::int32_t kOne = 1 << 16;
  const std::int32_t across = orientation.hflip ? -kOne : kOne;
  const std::int32_t down = orientation.vflip ? -kOne : kOne;
  DisplayMatrix matrix = {};
  matrix[orientation.transpose ? 3 : 0] = across;
  matrix[orientation.transpose ? 1 : 4] = down;
  matrix[8] = 1 << 30;
  return matrix;
}

// Row 0 and column 0 of the stored picture are its top and left (1), top and right (2), bottom and right (3), bottom
// and left (4), left and top (5), right and top (6), right and bottom (7), left and bottom (8) when seen (TIFF 6.0,
// page 36).
Orientation exif_orientation(int value) {
  static constexpr std::array<Orientation, 9> kByValue = {{{},
                                                           {},
                                                           {false, true, false},
                                                           {false, true, true},
                                                           {false, false, true},
                                                           {true, false, false},
                                                           {true, true, false},
                                                           {true, true, true},
                                                           {true, false, true}}};
  return value >= 1 && value <= 8 ? kByValue[static_cast<std::size_t>(value)] : Orientation{};
}

const std::int32_t* find_display_matrix(const AVFrame& frame, const AVStream& stream, bool or_of_stream) {
  const AVFrameSideData* own = av_frame_get_side_data(&frame, AV_FRAME_DATA_DISPLAYMATRIX);
  if (own != nullptr && own->size >= kMatrixBytes) return reinterpret_cast<const std::int32_t*>(own->data);
  if (!or_of_stream) return nullptr;
  std::size_t size = 0;
  const std::uint8_t* data = stream_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, size);
  return size >= kMatrixBytes ? reinterpret_cast<const std::int32_t*>(data) : nullptr;
}

}  // namespace saccade
