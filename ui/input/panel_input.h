// Gives a person's mouse and keys to the panel and to ViewInput, in the order in which they came.
#pragma once

#include <functional>
#include <string>

#include "ui/input/input_event.h"
#include "ui/input/view_input.h"
#include "ui/viewer/viewer.h"

namespace saccade::ui {

struct ViewSize {
  int width_px = 1280, height_px = 720;
  float scale = 1;  // pixels a point
};

// One thread, the viewer's. Dear ImGui looks at its input once a frame, and before 1.87 keeps no queue of it: a frame
// is digested between two changes of a key or button, so that none is lost however fast they come.
class PanelInput {
 public:
  // viewer outlives it. after_digest: called when the panel may have changed settings; may be empty.
  explicit PanelInput(Viewer& viewer, std::function<void()> after_digest = {});

  void set_size(const ViewSize& size);
  const ViewSize& size() const { return size_; }

  void apply(const MoveInput& move);
  void apply(const ButtonInput& button);
  void apply(const WheelInput& wheel);
  void apply(const KeyInput& key);
  void apply(const PasteInput& paste);
  void release_all();  // another person drives
  void settle();       // the panel takes what came

 private:
  void settle_pressed();
  ViewInput::Place place(float x, float y) const;
  void character(const KeyInput& key);

  Viewer& viewer_;
  ViewInput view_;
  const std::function<void()> after_digest_;
  ViewSize size_;
  bool pressed_ = false;  // a key or button changed since the last frame of the panel
};

}  // namespace saccade::ui
