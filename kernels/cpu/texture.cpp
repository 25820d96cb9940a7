#include "kernels/cpu/texture.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/held_picture.h"

namespace saccade {
namespace {

constexpr Patch kNowhere{.lod = -1};

}  // namespace

CpuTexture::CpuTexture(const PyramidLayout& layout, const DiffConfig& diff, bool staged, const CpuOps& ops)
    : pyramid_(layout, ops), differ_(pyramid_, diff), staged_(staged) {}

void CpuTexture::update(const FrameView& frame) {
  if (staged_) {
    run_steps(frame);
    return;
  }
  bytes_ = 0;
  const bool compare = differ_.begin(frame);
  for (int ty = 0; ty < layout().tiles.rows; ++ty) {
    if (compare && !CpuTileDiffer::may_differ(frame, ty)) continue;
    const std::span<const TileRow> planes = differ_.read_row(frame, ty);
    if (compare) differ_.diff_row(planes, ty);
    for_each_run_in_row(differ_.damage(), ty, [&](int begin, int end) {
      bytes_ += pyramid_.write_tiles(planes, ty, begin, end);
      pyramid_.refresh_tiles(ty, begin, end);
    });
  }
  pyramid_.refresh_coarse();
}

// The next update writes all of level 0, so what the levels hold meanwhile is never seen.
void CpuTexture::start_over(const DiffConfig& config) {
  differ_.start_over(config);
  bytes_ = 0;
  std::fill(places_.begin(), places_.end(), kNowhere);
}

std::int64_t CpuTexture::upload(const FrameView& frame, const Damage& damage) {
  bytes_ = pyramid_.upload(frame, damage);
  return bytes_;
}

std::unique_ptr<HeldPicture> CpuTexture::make_held_picture(const ErrorMeasure& measure) const {
  return std::make_unique<CpuHeldPicture>(pyramid_, measure);
}

void CpuTexture::submit(const PatchPlan& plan, const ColorSpec& color, std::span<const std::uint8_t> changed,
                        PatchBatch& batch) {
  check_same_shape(plan, batch);
  const std::size_t count = plan.count();
  if (last_.count() != count || last_.patch_size() != batch.patch_size() || last_.format() != batch.format()) {
    last_ = PatchBatch(count, batch.patch_size(), batch.format());
    places_.assign(count, kNowhere);
    wanted_.resize(count);
  }
  const std::size_t bytes = batch.patch_bytes();
  for (std::size_t n = 0; n < count; ++n) {
    const bool known = n < changed.size() && changed[n] == 0 && places_[n] == plan.patches[n];
    wanted_[n] = known ? 0 : 1;
    if (known) std::memcpy(batch.patch(n).data(), last_.patch(n).data(), bytes);
  }
  pyramid_.sample_wanted(plan, color, wanted_, batch);
  for (std::size_t n = 0; n < count; ++n) {
    if (wanted_[n] != 0) std::memcpy(last_.patch(n).data(), batch.patch(n).data(), bytes);
  }
  std::copy(plan.patches.begin(), plan.patches.end(), places_.begin());
}

}  // namespace saccade
