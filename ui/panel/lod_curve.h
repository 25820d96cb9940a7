// The curve of level of detail against eccentricity, and how the lattice follows it.
#pragma once

#include "ui/picture/view_state.h"

namespace saccade::ui {

class LodCurve {
 public:
  // Into the window that is begun, as wide as it is. Axes only before the first frame.
  void draw(const PipelineConfig& config, const ViewFacts& facts) const;
};

}  // namespace saccade::ui
