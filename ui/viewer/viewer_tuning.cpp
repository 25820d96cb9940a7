// The viewer's settings as the person tunes them: where a click holds the eye, what is saved, the way back.
#include "ui/tuning/settings_edits.h"
#include "ui/viewer/viewer.h"

namespace saccade::ui {

void Viewer::reset_settings() {
  ui::reset_settings(settings, initial_);
  held_gaze_.forget();
}

PipelineConfig Viewer::tuned() const {
  PipelineConfig config = settings.pipeline;
  config.scanpath = held_gaze_.without_hold(config.scanpath);
  return config;
}

bool Viewer::has_unsaved_settings() const { return !look_ && !same_tuning(tuned(), saved_); }

void Viewer::fixate(float u, float v) {
  if (look_) {
    facts.message = "a dump is shown: the eye went where it went";
    return;
  }
  held_gaze_.hold(settings.pipeline.scanpath, u, v);
}

void Viewer::unfixate() { held_gaze_.undo_hold(settings.pipeline.scanpath); }

void Viewer::free_gaze() {
  if (!look_) held_gaze_.let_go(settings.pipeline.scanpath);
}

}  // namespace saccade::ui
