#include "pipeline/source/convert/orientation.h"

#include <algorithm>
#include <cmath>

#include "pipeline/source/ffmpeg/versions.h"

namespace saccade {
namespace {

constexpr double kTolerance = 0.0175;  // sine of one degree
constexpr std::size_t kMatrixBytes = 9 * sizeof(std::int32_t);

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

const std::int32_t* find_display_matrix(const AVFrame& frame, const AVStream& stream, bool or_of_stream) {
  const AVFrameSideData* own = av_frame_get_side_data(&frame, AV_FRAME_DATA_DISPLAYMATRIX);
  if (own != nullptr && own->size >= kMatrixBytes) return reinterpret_cast<const std::int32_t*>(own->data);
  if (!or_of_stream) return nullptr;
  std::size_t size = 0;
  const std::uint8_t* data = stream_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, size);
  return size >= kMatrixBytes ? reinterpret_cast<const std::int32_t*>(data) : nullptr;
}

}  // namespace saccade
