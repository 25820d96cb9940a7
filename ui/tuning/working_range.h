// Between which values a setting works for the frame that is shown: what its slider spans. Pure functions.
#pragma once

#include <utility>

#include "pipeline/gaze/lattice/lattice.h"
#include "pipeline/run/pipeline.h"

namespace saccade::ui {

struct WorkingRange {
  int low = 1, high = 1;
  bool operator==(const WorkingRange&) const = default;
};

inline constexpr int kMostPatches = 4096;  // that a slider offers

// Levels with which the lattice exists and the texture's padding stays below this side. geometry.levels isn't read.
WorkingRange working_levels(const LatticeConfig& lattice, const FrameGeometry& geometry, int most_texture_px);

// Patches from the fewest that cover the frame to as many as are all of full resolution. `lattice` says which kind.
WorkingRange working_patches(const LatticeConfig& lattice, const FrameGeometry& geometry);

// Both for one frame and one configuration, worked out again when either changes.
class WorkingRanges {
 public:
  void update(const PipelineConfig& config, const FrameGeometry& geometry, int most_texture_px);
  const WorkingRange& levels() const { return levels_; }
  const WorkingRange& patches() const { return patches_; }

 private:
  LatticeConfig lattice_;
  FrameGeometry geometry_;
  WorkingRange levels_{1, kDefaultLevels}, patches_{16, kMostPatches};
};

}  // namespace saccade::ui
