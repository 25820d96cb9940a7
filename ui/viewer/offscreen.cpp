#include "ui/viewer/offscreen.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "pipeline/backend/gl_log.h"
#include "pipeline/error.h"
#include "pipeline/run/feed.h"

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
  viewer.attach(std::move(opened));
  Feed& feed = *viewer.feed();
  if (feed.info().duration_s) {
    viewer.facts.time.duration_ns = std::llround(*feed.info().duration_s * 1e9);
  }
  std::vector<Shot> shots = config.shots;
  std::stable_sort(shots.begin(), shots.end(), [](const Shot& a, const Shot& b) { return a.t_s < b.t_s; });

  const Frame* next = feed.peek();
  viewer.facts.time.start_pts_ns = feed.start_pts_ns();
  int saved = 0;
  for (const Shot& shot : shots) {
    const std::int64_t until_ns = viewer.facts.time.start_pts_ns + std::llround(shot.t_s * 1e9);
    while (next != nullptr && next->view().pts_ns <= until_ns && !stopped()) {
      Frame frame;
      feed.wait(frame);
      viewer.show(std::move(frame), false);
      next = feed.peek();
    }
    if (stopped()) break;
    viewer.facts.time.ended = next == nullptr && !feed.failed();
    if (feed.failed()) viewer.facts.error = one_line(feed.fault());
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
