// Fixations from a map that is pushed from outside: a model's attention, say.
#pragma once

#include <cstdint>
#include <vector>

#include "pipeline/gaze/fixation_memory.h"
#include "pipeline/gaze/scanpath/scanpath.h"

namespace saccade {

// The map is pooled (by maximum) to at most 256 cells a side, each of which keeps the place of its own peak. A fixation
// falls on the largest weight after inhibition of return; where all that has weight is wholly inhibited, on the peak.
class AttentionTargets {
 public:
  AttentionTargets(double fov_deg, const FrameGeometry& geometry);

  void attend(const AttentionMap* map);  // null: none. The memory of what was fixated stays
  bool active() const { return !weight_.empty(); }
  GazePoint choose(const FixationRequest& request);  // active()
  void reset() { memory_.forget(); }

 private:
  FrameGeometry geometry_;
  FixationMemory memory_;
  CellAxis cols_, rows_;
  std::vector<float> weight_;      // of a pooled cell, 0..1
  std::vector<GazePoint> places_;  // of its peak
  std::vector<float> score_;
  AxisGaussians around_;
};

}  // namespace saccade
