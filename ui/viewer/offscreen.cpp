#include "ui/viewer/offscreen.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "pipeline/backend/gl_log.h"
#include "pipeline/error.h"
#include "pipeline/run/feed.h"
#include "pipeline/secrets.h"
#include "ui/viewer/playback.h"

namespace saccade::ui {
namespace {

gl::Context make_context(const Log& log) {
  try {
    return gl::Context::offscreen(logging_context_config(log));
  } catch (const gl::GlError& error) {
    throw_fault(fault_of(error), "view");
  }
}

}  // namespace

OffscreenResult render_offscreen(const OffscreenConfig& config,
                                 const std::function<void(const Shot&, const Picture&, Viewer&)>& save,
                                 const std::function<bool()>& stopped) {
  FeedConfig wanted;
  wanted.source = config.source;
  wanted.policy = QueuePolicy::kBlock;
  OpenedFeed opened = config.open(wanted);
  const gl::Context context = make_context(config.source.log);
  Viewer viewer(context, config.settings, Surface::kPictures, config.source.log);
  Playback playback(viewer, {.source = config.source, .queue_policy = QueuePolicy::kBlock}, [] {});
  opened.feed->peek();
  playback.play(std::move(opened));
  std::vector<Shot> shots = config.shots;
  std::stable_sort(shots.begin(), shots.end(), [](const Shot& a, const Shot& b) { return a.t_s < b.t_s; });

  OffscreenResult result;
  for (const Shot& shot : shots) {
    playback.show_until(viewer.facts.time.start_pts_ns + std::llround(shot.t_s * 1e9), stopped);
    if (stopped()) break;
    if (!viewer.has_frame()) throw_fault(no_frame_in_range(config.source, masked_uri(config.source.uri)));
    save(shot, viewer.picture(config.width_px, config.height_px, config.scale), viewer);
    ++result.saved;
  }
  result.error = viewer.facts.error;
  result.damage = viewer.facts.damage;
  return result;
}

}  // namespace saccade::ui
