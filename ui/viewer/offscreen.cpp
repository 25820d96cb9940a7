#include "ui/viewer/offscreen.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "pipeline/backend/gl_log.h"
#include "pipeline/error.h"
#include "pipeline/run/feed.h"
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

// What the person would see in a window.
class Canvas {
 public:
  Canvas(int width_px, int height_px) : color_(GL_RGBA8, width_px, height_px, 1), framebuffer_(color_, 0) {}
  void bind() const { framebuffer_.bind(); }

 private:
  gl::Texture color_;
  gl::Framebuffer framebuffer_;
};

}  // namespace

int render_offscreen(const OffscreenConfig& config,
                     const std::function<void(const Shot&, const Picture&, Viewer&)>& save,
                     const std::function<bool()>& stopped) {
  FeedConfig wanted;
  wanted.source = config.source;
  wanted.policy = QueuePolicy::kBlock;
  auto opened = std::make_unique<Feed>(wanted);
  const gl::Context context = make_context(config.source.log);
  const Canvas canvas(config.width_px, config.height_px);
  Viewer viewer(context, config.settings, nullptr, config.source.log);
  Playback playback(viewer, {config.source, QueuePolicy::kBlock}, [] {});
  opened->peek();
  playback.play(std::move(opened));
  std::vector<Shot> shots = config.shots;
  std::stable_sort(shots.begin(), shots.end(), [](const Shot& a, const Shot& b) { return a.t_s < b.t_s; });

  int saved = 0;
  for (const Shot& shot : shots) {
    playback.show_until(viewer.facts.time.start_pts_ns + std::llround(shot.t_s * 1e9), stopped);
    if (stopped()) break;
    if (!viewer.has_frame())
      throw InputError(fmt::format("{}: no frame to show", config.source.uri), Hint::kCheckRange);
    canvas.bind();
    for (int pass = 0; pass < 3; ++pass) viewer.draw(config.width_px, config.height_px, config.scale);  // sizes settle
    save(shot, read_picture(config.width_px, config.height_px), viewer);
    ++saved;
  }
  return saved;
}

}  // namespace saccade::ui
