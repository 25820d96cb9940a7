// What the viewer notes of each look: where the eye was, what was sent, and what the receiver holds by it.
#include <algorithm>
#include <numeric>
#include <utility>

#include "ui/tuning/settings_edits.h"
#include "ui/viewer/viewer.h"

namespace saccade::ui {
namespace {

constexpr std::size_t kTrailSamples = 256;
constexpr std::size_t kFixations = 64;
constexpr std::int64_t kSecond_ns = 1'000'000'000;  // what a trail and a rate span

}  // namespace

void Viewer::note_look(const Gaze& gaze) {
  const Lattice& lattice = session_->pipeline().lattice();
  facts.look.gaze = gaze;
  facts.look.fovea = &lattice.fovea();
  facts.look.patches = static_cast<int>(lattice.patch_count());
  facts.look.solved_e0 = as_written(lattice.fovea().e0);
  facts.look.solved_m0 = as_written(lattice.fovea().m0);
  outline_plan_.patch_size = applied_.lattice.patch_size;
  const bool follows_gaze = session_->pipeline().allocator() == nullptr;
  if (std::string words = lattice.describe(); words != facts.look.lattice) {
    facts.look.lattice = std::move(words);
    lattice.plan(0, 0, outline_plan_);  // the eye in a corner: the frame reaches farthest from it
    facts.look.coarsest_lod =
        follows_gaze ? coarsest_lod(outline_plan_) : static_cast<float>(std::min(applied_.levels, kSquareLevels) - 1);
  }
  if (follows_gaze) lattice.plan(gaze.u, gaze.v, outline_plan_);
  facts.look.plan = follows_gaze ? &outline_plan_ : &emission_.plan;
  note_trail(gaze);
  if (!gaze.landed) return;
  facts.look.fixations.push_back({gaze.fixation, frame_.view().pts_ns, gaze.u, gaze.v});
  if (facts.look.fixations.size() > kFixations) facts.look.fixations.pop_front();
}

// What the dump holds, in place of what the pipeline makes of its pictures.
void Viewer::note_recorded() {
  const std::int64_t frame = frame_.view().sequence;
  facts.time.frame = frame;
  look_->numbers(frame, facts.look.dump);
  facts.step.damaged_tiles = std::max(facts.look.dump.damaged_tiles, 0);
  facts.look.gaze = look_->gaze(frame);
  facts.look.fovea = &look_->fovea();
  facts.look.solved_e0 = as_written(look_->fovea().e0);
  facts.look.solved_m0 = as_written(look_->fovea().m0);
  facts.look.lattice = look_->words();
  look_->plan(frame, outline_plan_);
  facts.look.coarsest_lod = std::max(facts.look.coarsest_lod, coarsest_lod(outline_plan_));  // as far as it was shown
  facts.look.patches = static_cast<int>(outline_plan_.count());
  facts.look.plan = &outline_plan_;
  look_->fixations(frame, kFixations, facts.look.fixations);
  note_trail(facts.look.gaze);
}

void Viewer::note_trail(const Gaze& gaze) {
  const std::int64_t pts_ns = frame_.view().pts_ns;
  if (facts.look.trail.empty() || facts.look.trail.back().pts_ns != pts_ns) {
    facts.look.trail.push_back({pts_ns, gaze.u, gaze.v, gaze.in_flight});
  }
  while (facts.look.trail.size() > kTrailSamples || pts_ns - facts.look.trail.front().pts_ns > kSecond_ns) {
    facts.look.trail.pop_front();
  }
}

// What adaptive sent, and what its receiver holds by that. looked: at this frame.
void Viewer::note_sent(bool looked) {
  Allocator* const allocator = session_->pipeline().allocator();
  facts.receiver.there = allocator != nullptr;
  if (allocator == nullptr) return sent_.clear();
  const std::int64_t pts_ns = frame_.view().pts_ns;
  if (looked) {
    receiver_.add(painter_, picture_size());
    const auto& patches = emission_.plan.patches;
    const auto count = std::count_if(patches.begin(), patches.end(), [](const Patch& p) { return p.coverage > 0; });
    sent_.push_back({pts_ns, static_cast<int>(count)});
    facts.receiver.tokens_last_look = static_cast<int>(count);
    facts.receiver.psnr_db = allocator->psnr_db();
  }
  while (!sent_.empty() && (sent_.front().pts_ns <= pts_ns - kSecond_ns || sent_.front().pts_ns > pts_ns)) {
    sent_.pop_front();
  }
  facts.receiver.tokens_last_s =
      std::accumulate(sent_.begin(), sent_.end(), std::int64_t{0},
                      [](std::int64_t sum, const SentTokens& each) { return sum + each.count; });
}

void Viewer::show_receiver() {
  Allocator* const allocator = session_->pipeline().allocator();
  const View view = settings.view == View::kCompare ? View::kHeld : settings.view;
  if (allocator == nullptr || look_ || !needs_adaptive(view)) return;
  receiver_.update(view, *allocator, facts.step.damage->grid(), frame_.view().pts_ns, facts.look.gaze.u,
                   facts.look.gaze.v);
}

// By the looks of a dump's default, one a landing, whatever view is drawn.
void Viewer::choose_views(bool looked) {
  if (!settings.boxes || look_) {
    if (chosen_) session_->forget_views();
    chosen_.reset();
    facts.views = {};
    return;
  }
  if (chosen_ != settings.views) {
    session_->forget_views();
    chosen_ = settings.views;
    facts.views = {};
    looked = true;
  }
  if (!looked) return;
  facts.views.last = session_->choose_views(settings.views);
  facts.views.images += static_cast<std::int64_t>(facts.views.last.size());
  for (const saccade::View& view : facts.views.last) facts.views.tokens += view.tokens;
}

// The other lattice's patches of the frame that went through.
void Viewer::compare() {
  const FrameView& view = frame_.view();
  Compared compared;
  compared.kind = settings.compare;
  compared.patches = facts.look.patches;
  compared.patch_size = applied_.lattice.patch_size;
  compared.fov_deg = applied_.lattice.fov_deg;
  compared.acuity = {fovea_unit(applied_.lattice), facts.look.solved_e0, facts.look.solved_m0};
  compared.geometry = {view.width_px, view.height_px, static_cast<double>(view.sar), applied_.levels};
  comparison_.update(*session_, compared, view.color, facts.look.gaze);
}

}  // namespace saccade::ui
