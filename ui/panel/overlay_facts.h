// The panel's left half: what is true of the stream, the pace, the stages, the texture and the patches.
#pragma once

#include "ui/panel/overlay_text.h"
#include "ui/panel/thumbnails.h"
#include "ui/picture/view_state.h"

namespace saccade::ui {

// Draws into the ImGui window that is begun. Measured times are dashes where pictures must not depend on the machine.
class FactsPanel {
 public:
  void draw(ViewSettings& settings, const ViewFacts& facts, const Note& note);

 private:
  void stage_table(const ViewFacts& facts);

  Thumbnails thumbnails_;
  bool whole_run_ = false;  // percentiles of the whole run, not of the last seconds
};

}  // namespace saccade::ui
