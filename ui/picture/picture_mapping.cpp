#include "ui/picture/picture_mapping.h"

#include <algorithm>

namespace saccade::ui {
namespace {

float clamp_pan(float pan) { return std::clamp(pan, -0.5f, 0.5f); }

}  // namespace

PictureMapping map_picture(const PictureSize& picture, const ViewSettings& settings, const PixelBox& area) {
  const auto width = static_cast<float>(std::max(picture.width_px, 1));
  const auto height = static_cast<float>(std::max(picture.height_px, 1));
  const auto sar = static_cast<float>(picture.sar > 0 ? picture.sar : 1.0);
  const auto area_width = static_cast<float>(area.right - area.left);
  const auto area_height = static_cast<float>(area.bottom - area.top);
  PictureMapping mapping;
  mapping.scale_y = std::min(area_width / (width * sar), area_height / height) * settings.zoom;
  mapping.scale_x = mapping.scale_y * sar;
  mapping.origin_x = static_cast<float>(area.left) + area_width / 2 - (0.5f + settings.pan_x) * width * mapping.scale_x;
  mapping.origin_y =
      static_cast<float>(area.top) + area_height / 2 - (0.5f + settings.pan_y) * height * mapping.scale_y;
  return mapping;
}

void zoom_about(ViewSettings& settings, const PictureSize& picture, const PixelBox& area, float x, float y,
                float factor) {
  const PictureMapping before = map_picture(picture, settings, area);
  settings.zoom = std::clamp(settings.zoom * factor, kMinZoom, kMaxZoom);
  const PictureMapping after = map_picture(picture, settings, area);
  const float x_px = before.to_picture_x(x);
  const float y_px = before.to_picture_y(y);
  pan_by(settings, picture, after, x - after.to_window_x(x_px), y - after.to_window_y(y_px));
}

void pan_by(ViewSettings& settings, const PictureSize& picture, const PictureMapping& mapping, float dx, float dy) {
  if (picture.width_px <= 0 || picture.height_px <= 0 || !(mapping.scale_x > 0)) return;
  settings.pan_x = clamp_pan(settings.pan_x - dx / (mapping.scale_x * static_cast<float>(picture.width_px)));
  settings.pan_y = clamp_pan(settings.pan_y - dy / (mapping.scale_y * static_cast<float>(picture.height_px)));
}

}  // namespace saccade::ui
