// Pictures of the viewer without a window: by the video's time, the same ones on every run.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "pipeline/source/frame/frame_source.h"
#include "ui/picture/view_state.h"
#include "ui/viewer/viewer.h"

namespace saccade::ui {

struct Shot {
  double t_s = 0;  // after the first frame: shows the newest frame that is not later
  std::string path;
};

struct OffscreenConfig {
  SourceConfig source;
  OpenFeed open = open_video;  // how it is opened
  ViewSettings settings;
  std::vector<Shot> shots;
  int width_px = 1280;
  int height_px = 720;
  float scale = 1;  // pixels a point
};

struct OffscreenResult {
  int saved = 0;       // pictures: fewer than asked for when stopped
  std::string error;   // the stream broke before the last shot: how
  std::string damage;  // what did not come or not decode before its end, where that was reached
};

// Every frame up to the last shot goes through the pipeline, as in a dump. `save` gets each picture, in the order of
// their times; `stopped` is asked between frames, and config.source.stop ends what waits. Times behind the end show the
// last frame. Throws InputError, UnavailableError (no OpenGL).
OffscreenResult render_offscreen(const OffscreenConfig& config,
                                 const std::function<void(const Shot&, const Picture&, Viewer&)>& save,
                                 const std::function<bool()>& stopped);

}  // namespace saccade::ui
