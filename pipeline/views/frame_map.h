// From a view to the frame and back, exactly: points are continuous, with the origin at the top left corner.
#pragma once

#include <cstdint>

#include "pipeline/views/token_rule.h"

namespace saccade {

struct PointPx {
  double x = 0, y = 0;
};

// Pixels of the frame: [x, x + width) x [y, y + height). May reach beyond its right and lower edges.
struct FrameBox {
  int x = 0, y = 0, width = 0, height = 0;
  bool operator==(const FrameBox&) const = default;
};

inline bool contains(const FrameBox& box, PointPx at) {
  return at.x >= box.x && at.x < box.x + box.width && at.y >= box.y && at.y < box.y + box.height;
}

// Pictures of the same scene.
enum class Space : std::uint8_t {
  kFrame,    // pixels of the frame: after rotation, before the sample aspect ratio
  kDisplay,  // of the frame with square pixels, as players show it: the side that gains by the ratio is stretched
  kCoded,    // of the picture as it is coded: before rotation and mirror
  kUv,       // 0 to 1 of the frame
};

struct FrameShape {
  int width_px = 0, height_px = 0;  // of the frame
  double sar = 1;                   // width of a pixel over its height
  int rotation_deg = 0;             // clockwise, from coded to frame; then the mirror
  bool mirrored = false;            // horizontally
  bool operator==(const FrameShape&) const = default;
};

PointPx from_space(const FrameShape& shape, Space space, PointPx at);  // to pixels of the frame
PointPx to_space(const FrameShape& shape, Space space, PointPx in_frame);

// size: of the view's picture; of another one that it was resized to, that size.
PointPx view_to_frame(const FrameBox& box, ImageSize size, Answer answer, PointPx at);
PointPx frame_to_view(const FrameBox& box, ImageSize size, Answer answer, PointPx in_frame);

}  // namespace saccade
