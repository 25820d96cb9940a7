// One picture of those that show a frame to a model.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/enum_names.h"
#include "kernels/texture.h"
#include "pipeline/views/frame_map.h"
#include "pipeline/views/token_rule.h"

namespace saccade {

enum class ViewReason : std::uint8_t {
  kOverview,  // all of the frame
  kNew,       // changed since the views before
  kLookedAt,  // holds the point that is looked at
  kDetail,    // was never sent as finely
};
inline constexpr EnumName<ViewReason> kViewReasons[] = {{ViewReason::kOverview, "overview"},
                                                        {ViewReason::kNew, "new"},
                                                        {ViewReason::kLookedAt, "looked at"},
                                                        {ViewReason::kDetail, "detail"}};
constexpr std::span<const EnumName<ViewReason>> names_of(ViewReason) { return kViewReasons; }

// size texels of a level; its box is 2^level times as large.
struct View {
  FrameBox box;
  int level = 0;
  ImageSize size;
  int tokens = 0;
  ViewReason reason = ViewReason::kDetail;
  bool operator==(const View&) const = default;
};

// The view's texels as R'G'B', rows of size.width x 3 bytes: what lattices sample at whole levels. Grey beyond the
// frame. `out` has size.width x size.height x 3 bytes. On the texture's thread; waits for a device.
void read_view(Texture& texture, const ColorSpec& color, const View& view, std::span<std::uint8_t> out);

}  // namespace saccade
