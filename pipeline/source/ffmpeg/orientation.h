// How a decoded picture must be rotated to be seen upright.
#pragma once

#include <array>
#include <cstdint>
#include <string>

struct AVFrame;
struct AVStream;

namespace saccade {

// Applied in this order: transposition (rows become columns), then the mirrors.
struct Orientation {
  bool transpose = false;
  bool hflip = false;
  bool vflip = false;
  bool identity() const { return !transpose && !hflip && !vflip; }
  // The same as a clockwise rotation, then a horizontal mirror.
  int rotation_deg() const;
  bool mirrored() const;
  std::string filters() const;  // FFmpeg's, "" for the identity
  Orientation then(const Orientation& next) const;
  bool operator==(const Orientation&) const = default;
};

enum class MatrixKind : std::uint8_t {
  kUpright,     // a multiple of 90 degrees
  kOblique,     // another angle
  kDegenerate,  // no rotation at all
};

// From the upper left 2x2 of the display matrix of ISO/IEC 14496-12 8.3.2.3 (16.16 and 2.30 fixed point).
MatrixKind read_display_matrix(const std::int32_t* matrix, Orientation& out);

// The other way: what FFmpeg would have as side data.
using DisplayMatrix = std::array<std::int32_t, 9>;
DisplayMatrix display_matrix(const Orientation& orientation);

// Of EXIF's and TIFF's tag 274: 1 to 8. Any other value: the identity.
Orientation exif_orientation(int value);

// The frame's own side data wins over the stream's, which is looked at only with `or_of_stream`. Null: none.
const std::int32_t* find_display_matrix(const AVFrame& frame, const AVStream& stream, bool or_of_stream);

}  // namespace saccade
