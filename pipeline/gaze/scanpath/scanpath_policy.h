// Where the eye goes next. The clock asks; a policy answers. A policy knows nothing of saccades or time steps.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/gaze/scanpath/scanpath.h"

namespace saccade {

// Deterministic: the same calls give the same answers, to the bit. Neither call allocates.
class FixationTargets {
 public:
  virtual ~FixationTargets() = default;
  virtual void observe(std::int64_t elapsed_ns, const SceneView& scene) = 0;  // every frame, before choose()
  virtual GazePoint choose(const FixationRequest& request, const SceneView& scene) = 0;
  virtual void reset() = 0;  // as newly made
  virtual bool needs_scene() const { return false; }
};

// "u,v", default the middle.
std::unique_ptr<FixationTargets> make_center_targets(const std::string& argument);
std::unique_ptr<FixationTargets> make_random_targets(std::uint64_t seed);
// "COLSxROWS", default 4x3: cell centres, row by row, over and over.
std::unique_ptr<FixationTargets> make_raster_targets(const std::string& argument);
// Throws UsageError where the regions to ignore are outside the frame or leave nothing.
std::unique_ptr<FixationTargets> make_saliency_targets(std::uint64_t seed, double fov_deg, const IgnoreRegions& ignore,
                                                       const FrameGeometry& geometry);
// The same, and saliency where nothing is left to be read.
std::unique_ptr<FixationTargets> make_novelty_targets(std::uint64_t seed, double fov_deg, const IgnoreRegions& ignore,
                                                      const FrameGeometry& geometry);

std::unique_ptr<FixationTargets> make_recorded_targets(std::vector<GazePoint> points);

// The other kind of scanpath: gaze as it was recorded.
std::unique_ptr<Scanpath> make_raw_scanpath(RecordedScanpath recorded, double rate_hz);

}  // namespace saccade
