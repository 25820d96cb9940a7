// What the options say of the viewer.
#pragma once

#include "app/options/options.h"

namespace saccade {

inline ui::ViewSettings settings_of(const Options& options) {
  ui::ViewSettings settings = options.view;
  settings.loop = options.source.loops != 0;
  settings.pipeline = options.pipeline;
  settings.boxes = options.views.has_value();
  settings.views = options.views.value_or(ViewsChoice{});
  return settings;
}

}  // namespace saccade
