// Gives a page's mouse and keys to the panel and to ViewInput, as WindowInput does with a window's.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "ui/viewer/view_input.h"
#include "ui/viewer/viewer.h"
#include "ui/web/wire/client_message.h"

namespace saccade::ui {

struct PageSize {
  int width_px = 1280, height_px = 720;
  float scale = 1;  // pixels a point
};

// One thread, the viewer's. Dear ImGui looks at its input once a frame, so frames are digested between changes that it
// would miss otherwise.
class WebInput {
 public:
  // viewer outlives it. after_digest: called when the panel may have changed settings.
  WebInput(Viewer& viewer, std::function<void()> after_digest);

  void set_size(const PageSize& size);
  const PageSize& size() const { return size_; }

  void apply(const MoveInput& move);
  void apply(const ButtonInput& button);
  void apply(const WheelInput& wheel);
  void apply(const KeyInput& key);
  void apply(const PasteInput& paste);
  void release_all();  // another person drives
  void settle();       // the panel takes what came

  const char* cursor() const;    // as CSS names it
  std::string take_clipboard();  // what the panel copied since the last call

 private:
  void digest_if(bool needed);
  ViewInput::Place place(float x, float y) const;
  void character(const KeyInput& key);

  Viewer& viewer_;
  ViewInput view_;
  const std::function<void()> after_digest_;
  PageSize size_;
  bool moved_ = false, pressed_ = false;  // since the last frame of the panel
  std::string clipboard_, copied_;
};

}  // namespace saccade::ui
