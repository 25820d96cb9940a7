// Where an eye looked and what it saw, for a source whose frames come with that: a dump.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "kernels/patch_plan.h"
#include "kernels/shared/fovea.h"
#include "pipeline/run/feed.h"
#include "ui/picture/view_state.h"

namespace saccade::ui {

// One thread, the viewer's. frame: FrameView::sequence.
class RecordedLook {
 public:
  virtual ~RecordedLook() = default;
  virtual Gaze gaze(std::int64_t frame) const = 0;
  virtual void plan(std::int64_t frame, PatchPlan& out) const = 0;
  // The last fixations up to this frame, oldest first.
  virtual void fixations(std::int64_t frame, std::size_t most, std::deque<Fixation>& out) const = 0;
  virtual void numbers(std::int64_t frame, RecordedFacts& out) const = 0;
  virtual const shared::FoveaParams& fovea() const = 0;
  virtual std::string words() const = 0;  // the lattice, in a line
};

struct OpenedFeed {
  std::unique_ptr<Feed> feed;
  std::shared_ptr<const RecordedLook> look;  // null: the pipeline decides where the eye looks
};

// Opens what `config.source` names. Called on any thread; throws as Feed's constructor.
using OpenFeed = std::function<OpenedFeed(const FeedConfig&)>;
inline OpenedFeed open_video(const FeedConfig& config) { return {std::make_unique<Feed>(config), nullptr}; }

}  // namespace saccade::ui
