#include "app/view/view_settings.h"

namespace saccade {

ui::ViewSettings settings_of(const Options& options) {
  ui::ViewSettings settings;
  settings.view = options.view.view;
  settings.level = options.view.level;
  settings.overlay = options.view.overlay;
  settings.marks = options.view.marks;
  settings.outlines = options.view.outlines;
  settings.scanpath = options.view.scanpath;
  if (options.view.compare) {
    settings.view = ui::View::kCompare;
    settings.compare = *options.view.compare;
  }
  settings.speed = options.view.speed;
  settings.paused = options.view.paused;
  settings.loop = options.source.loops != 0;
  settings.vsync = options.view.vsync;
  settings.pipeline = options.pipeline;
  return settings;
}

}  // namespace saccade
