#include "ui/picture/heat_color.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "ui/picture/frame_renderer.h"

namespace saccade::ui {

ImU32 heat_color(float share, float alpha) {
  const float at = std::clamp(share, 0.0f, 1.0f) * static_cast<float>(kHeatStops.size() - 1);
  const std::size_t low = std::min(static_cast<std::size_t>(at), kHeatStops.size() - 2);
  const float t = at - static_cast<float>(low);
  std::array<float, 3> rgb{};
  for (std::size_t c = 0; c < 3; ++c) rgb[c] = kHeatStops[low][c] + (kHeatStops[low + 1][c] - kHeatStops[low][c]) * t;
  return ImGui::ColorConvertFloat4ToU32({rgb[0], rgb[1], rgb[2], alpha});
}

}  // namespace saccade::ui
