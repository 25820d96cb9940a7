#include "ui/compare/columns.h"

#include <algorithm>

namespace saccade::ui {
namespace {

constexpr int kCount = 3;

Columns lay(const PixelBox& area, bool across, int caption_px, int gap_px) {
  Columns columns;
  const int extent = across ? area.right - area.left : area.bottom - area.top;
  const int free = std::max(extent - (kCount - 1) * gap_px, 0);
  for (int i = 0; i < kCount; ++i) {
    const int begin = free * i / kCount + i * gap_px, end = free * (i + 1) / kCount + i * gap_px;
    PixelBox whole = area;
    (across ? whole.left : whole.top) = (across ? area.left : area.top) + begin;
    (across ? whole.right : whole.bottom) = (across ? area.left : area.top) + end;
    const auto n = static_cast<std::size_t>(i);
    columns.captions[n] = columns.pictures[n] = whole;
    columns.captions[n].bottom = columns.pictures[n].top = std::min(whole.top + caption_px, whole.bottom);
  }
  return columns;
}

float scale_in(const PictureSize& picture, const Columns& columns) {
  return map_picture(picture, ViewSettings{}, columns.pictures[0]).scale_y;
}

}  // namespace

Columns lay_columns(const PictureSize& picture, const PixelBox& area, int caption_px, int gap_px) {
  const int extent = std::min(area.right - area.left, area.bottom - area.top);
  if (extent < kCount * 3 * caption_px) caption_px = gap_px = 0;
  const Columns beside = lay(area, true, caption_px, gap_px), below = lay(area, false, caption_px, gap_px);
  return scale_in(picture, beside) >= scale_in(picture, below) ? beside : below;
}

}  // namespace saccade::ui
