#include "app/view/open_input.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "app/reconstruct/dump.h"
#include "app/reconstruct/dump_source.h"

namespace saccade {
namespace {

// Every look is a row of the dump's arrays.
class DumpLook final : public ui::RecordedLook {
 public:
  explicit DumpLook(const std::string& directory);
  Gaze gaze(std::int64_t frame) const override;
  void plan(std::int64_t frame, PatchPlan& out) const override;
  void fixations(std::int64_t frame, std::size_t most, std::deque<ui::Fixation>& out) const override;
  void numbers(std::int64_t frame, ui::RecordedFacts& out) const override;
  const shared::FoveaParams& fovea() const override { return dump_.facts().fovea; }
  std::string words() const override { return dump_.facts().lattice; }

 private:
  struct SoFar {
    std::int64_t patches = 0, changed = 0;
  };
  SoFar so_far(std::int64_t frame) const;

  const DumpReader dump_;
  const std::optional<DumpTotals> totals_;
  std::vector<ui::Fixation> landings_;
  std::vector<std::int64_t> landed_on_;  // the emission of each
  mutable std::vector<Patch> patches_;
  mutable std::vector<SoFar> so_far_;  // up to each emission, as far as they were added up
};

// An emission is a landing where the eye rests at another place than at the last landing.
DumpLook::DumpLook(const std::string& directory) : dump_(directory), totals_(dump_.totals()) {
  bool flew = true;
  for (std::int64_t e = 0; e < dump_.emissions(); ++e) {
    const DumpIndex row = dump_.index(e);
    const bool moved = landings_.empty() || landings_.back().u != row.fix_u || landings_.back().v != row.fix_v;
    if (!row.in_flight && (flew || moved)) {
      landings_.push_back({static_cast<std::int64_t>(landings_.size()), row.pts_ns, row.fix_u, row.fix_v});
      landed_on_.push_back(e);
    }
    flew = row.in_flight;
  }
}

Gaze DumpLook::gaze(std::int64_t frame) const {
  const DumpIndex row = dump_.index(frame);
  const auto after = std::upper_bound(landed_on_.begin(), landed_on_.end(), frame);
  const std::int64_t landings = after - landed_on_.begin();
  Gaze gaze;
  gaze.u = row.fix_u;
  gaze.v = row.fix_v;
  gaze.in_flight = row.in_flight;
  gaze.landed = landings > 0 && *(after - 1) == frame;
  gaze.fixation = row.in_flight ? landings : std::max<std::int64_t>(landings - 1, 0);
  return gaze;
}

void DumpLook::plan(std::int64_t frame, PatchPlan& out) const {
  const DumpFacts& facts = dump_.facts();
  const DumpIndex row = dump_.index(frame);
  dump_.patches(frame, patches_);
  out.patch_size = facts.patch_size;
  out.fix_x_px = row.fix_u * static_cast<float>(facts.width_px);
  out.fix_y_px = row.fix_v * static_cast<float>(facts.height_px);
  out.patches.clear();
  for (const Patch& patch : patches_) out.patches.push_back({patch.x_px, patch.y_px, patch.lod, patch.coverage});
}

// changed: -1 from the first emission on that is not known.
DumpLook::SoFar DumpLook::so_far(std::int64_t frame) const {
  while (static_cast<std::int64_t>(so_far_.size()) <= frame) {
    const auto emission = static_cast<std::int64_t>(so_far_.size());
    SoFar sum = so_far_.empty() ? SoFar{} : so_far_.back();
    const auto changed = dump_.changed(emission);
    sum.patches += dump_.patch_count(emission);
    sum.changed = changed && sum.changed >= 0 ? sum.changed + *changed : -1;
    so_far_.push_back(sum);
  }
  return so_far_[static_cast<std::size_t>(frame)];
}

void DumpLook::numbers(std::int64_t frame, ui::RecordedFacts& out) const {
  const DumpIndex row = dump_.index(frame);
  const SoFar sum = so_far(frame);
  out.input = dump_.facts().uri;
  out.emission = frame;
  out.emissions = dump_.emissions();
  out.video_frame = row.frame;
  out.damaged_tiles = row.damaged_tiles;
  out.patches = dump_.patch_count(frame);
  out.changed = dump_.changed(frame).value_or(-1);
  out.patches_so_far = sum.patches;
  out.changed_so_far = sum.changed;
  out.complete = totals_.has_value();
  if (!totals_) return;
  const auto share = [](std::int64_t part, std::int64_t all) {
    return all > 0 ? static_cast<double>(part) / static_cast<double>(all) : 0.0;
  };
  out.frames = totals_->frames;
  out.seconds = totals_->media_s;
  out.tile_share = share(totals_->damaged_tiles, totals_->tiles);
  out.byte_share = share(totals_->bytes_uploaded, totals_->bytes_full_upload);
}

void DumpLook::fixations(std::int64_t frame, std::size_t most, std::deque<ui::Fixation>& out) const {
  const auto end = std::upper_bound(landed_on_.begin(), landed_on_.end(), frame) - landed_on_.begin();
  const auto begin = std::max<std::ptrdiff_t>(end - static_cast<std::ptrdiff_t>(most), 0);
  out.assign(landings_.begin() + begin, landings_.begin() + end);
}

}  // namespace

ui::OpenedFeed open_input(const FeedConfig& config) {
  if (!may_be_dump(config.source.uri)) return ui::open_video(config);
  auto source = open_dump_source(config.source);
  auto look = std::make_shared<const DumpLook>(config.source.uri);
  return {std::make_unique<Feed>(std::move(source), config), std::move(look)};
}

}  // namespace saccade
