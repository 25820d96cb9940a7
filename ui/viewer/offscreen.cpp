#include "ui/viewer/offscreen.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "pipeline/backend/gl_log.h"
#include "pipeline/error.h"
#include "pipeline/source/open.h"

namespace saccade::ui {
namespace {

gl::Context make_context() {
  try {
    return gl::Context::offscreen(logging_context_config());
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
  const auto source = open_source(config.source);
  const gl::Context context = make_context();
  const Canvas canvas(config.width_px, config.height_px);
  Viewer viewer(context, config.settings, nullptr);
  viewer.attach(source->info());
  if (source->info().duration_s) {
    viewer.facts.duration_ns = std::llround(*source->info().duration_s * 1e9);
  }
  std::vector<Shot> shots = config.shots;
  std::stable_sort(shots.begin(), shots.end(), [](const Shot& a, const Shot& b) { return a.t_s < b.t_s; });

  Frame next;
  ReadStatus status = ReadStatus::kAgain;
  const auto read = [&] {
    do {
      status = source->next(next);
    } while (status == ReadStatus::kAgain && !stopped());
  };
  read();
  if (status == ReadStatus::kOk) viewer.facts.start_pts_ns = next.view().pts_ns;
  int saved = 0;
  for (const Shot& shot : shots) {
    const std::int64_t until_ns = viewer.facts.start_pts_ns + std::llround(shot.t_s * 1e9);
    while (status == ReadStatus::kOk && next.view().pts_ns <= until_ns && !stopped()) {
      source->recycle(viewer.show(std::move(next), false, 0));
      read();
    }
    if (stopped()) break;
    viewer.facts.ended = status == ReadStatus::kEnd;
    if (status == ReadStatus::kFailed) viewer.facts.error = one_line(source->fault());
    if (!viewer.has_frame()) throw InputError(fmt::format("{}: no frame to show", config.source.uri));
    canvas.bind();
    for (int pass = 0; pass < 3; ++pass) viewer.draw(config.width_px, config.height_px, config.scale);  // sizes settle
    save(shot, read_picture(config.width_px, config.height_px), viewer);
    ++saved;
  }
  return saved;
}

}  // namespace saccade::ui
