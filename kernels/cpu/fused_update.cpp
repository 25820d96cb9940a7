#include "kernels/cpu/fused_update.h"

#include "kernels/damage_runs.h"

namespace saccade {

CpuFusedUpdate::CpuFusedUpdate(CpuPyramid& texture, const DiffConfig& config)
    : texture_(texture), differ_(texture, config) {}

const Damage& CpuFusedUpdate::update(const FrameView& frame) {
  bytes_ = 0;
  const bool compare = differ_.begin(frame);
  for (int ty = 0; ty < texture_.layout().tiles.rows; ++ty) {
    const std::span<const TileRow> planes = differ_.read_row(frame, ty);
    if (compare) differ_.diff_row(planes, ty);
    for_each_run_in_row(differ_.damage(), ty, [&](int begin, int end) {
      bytes_ += texture_.write_tiles(planes, ty, begin, end);
      texture_.refresh_tiles(ty, begin, end);
    });
  }
  texture_.refresh_coarse();
  return differ_.damage();
}

}  // namespace saccade
