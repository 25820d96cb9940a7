// Where the picture lies in its area of the window: aspect, letterbox, zoom and pan. Pure arithmetic.
#pragma once

#include "ui/picture/pixel_rects.h"
#include "ui/picture/view_state.h"

namespace saccade::ui {

struct PictureSize {
  int width_px = 0;
  int height_px = 0;
  double sar = 1.0;  // width of a pixel over its height
};

// window = origin + picture * scale, both y down, in pixels of the framebuffer.
struct PictureMapping {
  float origin_x = 0, origin_y = 0;
  float scale_x = 1, scale_y = 1;

  float to_window_x(float x_px) const { return origin_x + x_px * scale_x; }
  float to_window_y(float y_px) const { return origin_y + y_px * scale_y; }
  float to_picture_x(float x) const { return (x - origin_x) / scale_x; }
  float to_picture_y(float y) const { return (y - origin_y) / scale_y; }
};

inline constexpr float kMinZoom = 0.25f;
inline constexpr float kMaxZoom = 64.0f;

// Zoom 1: the whole picture in its true aspect, as large as fits the area, centred.
PictureMapping map_picture(const PictureSize& picture, const ViewSettings& settings, const PixelBox& area);

// Multiplies the zoom and pans so that the picture's point at (x, y) of the window stays there.
void zoom_about(ViewSettings& settings, const PictureSize& picture, const PixelBox& area, float x, float y,
                float factor);

// The same in a whole window of this size.
inline PictureMapping map_picture(const PictureSize& picture, const ViewSettings& settings, int width_px,
                                  int height_px) {
  return map_picture(picture, settings, {0, 0, width_px, height_px});
}
inline void zoom_about(ViewSettings& settings, const PictureSize& picture, int width_px, int height_px, float x,
                       float y, float factor) {
  zoom_about(settings, picture, {0, 0, width_px, height_px}, x, y, factor);
}

// Moves the picture by window pixels; a point of it stays in the area's middle.
void pan_by(ViewSettings& settings, const PictureSize& picture, const PictureMapping& mapping, float dx, float dy);

}  // namespace saccade::ui
