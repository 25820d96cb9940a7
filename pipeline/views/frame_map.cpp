#include "pipeline/views/frame_map.h"

#include <utility>

namespace saccade {
namespace {

// What a whole side of the picture is in a model's coordinates.
PointPx full(ImageSize size, Answer answer) {
  switch (answer) {
    case Answer::kThousandths:
      return {1000, 1000};
    case Answer::kNormalized:
      return {1, 1};
    case Answer::kPixels:
      break;
  }
  return {static_cast<double>(size.width), static_cast<double>(size.height)};
}

// Clockwise by a multiple of 90 degrees: a point of a picture of width x height, which becomes the rotated one.
PointPx rotated(PointPx at, double width, double height, int degrees) {
  switch (degrees) {
    case 90:
      return {height - at.y, at.x};
    case 180:
      return {width - at.x, height - at.y};
    case 270:
      return {at.y, width - at.x};
    default:
      return at;
  }
}

// Players stretch the width of wide pixels, and the height of narrow ones.
PointPx display_scale(double sar) { return sar >= 1 ? PointPx{sar, 1} : PointPx{1, 1 / sar}; }

}  // namespace

PointPx from_space(const FrameShape& shape, Space space, PointPx at) {
  const double width = shape.width_px, height = shape.height_px;
  switch (space) {
    case Space::kFrame:
      return at;
    case Space::kDisplay: {
      const PointPx scale = display_scale(shape.sar);
      return {at.x / scale.x, at.y / scale.y};
    }
    case Space::kCoded: {
      const bool upright = shape.rotation_deg % 180 == 0;
      const PointPx in_frame = rotated(at, upright ? width : height, upright ? height : width, shape.rotation_deg);
      return {shape.mirrored ? width - in_frame.x : in_frame.x, in_frame.y};
    }
    case Space::kUv:
      return {at.x * width, at.y * height};
  }
  return at;
}

PointPx to_space(const FrameShape& shape, Space space, PointPx in_frame) {
  const double width = shape.width_px, height = shape.height_px;
  switch (space) {
    case Space::kFrame:
      return in_frame;
    case Space::kDisplay: {
      const PointPx scale = display_scale(shape.sar);
      return {in_frame.x * scale.x, in_frame.y * scale.y};
    }
    case Space::kCoded: {
      const PointPx at{shape.mirrored ? width - in_frame.x : in_frame.x, in_frame.y};
      return rotated(at, width, height, (360 - shape.rotation_deg) % 360);
    }
    case Space::kUv:
      return {in_frame.x / width, in_frame.y / height};
  }
  return in_frame;
}

PointPx view_to_frame(const FrameBox& box, ImageSize size, Answer answer, PointPx at) {
  const PointPx side = full(size, answer);
  return {box.x + at.x * box.width / side.x, box.y + at.y * box.height / side.y};
}

PointPx frame_to_view(const FrameBox& box, ImageSize size, Answer answer, PointPx in_frame) {
  const PointPx side = full(size, answer);
  return {(in_frame.x - box.x) * side.x / box.width, (in_frame.y - box.y) * side.y / box.height};
}

}  // namespace saccade
