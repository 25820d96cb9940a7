// Where the eye goes next. The clock asks; a policy answers. A policy knows nothing of saccades or time steps.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/gaze/scanpath.h"

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
std::unique_ptr<FixationTargets> make_saliency_targets(std::uint64_t seed, double fov_deg,
                                                       const FrameGeometry& geometry);

// A scanpath on file: CSV or TSV lines `t_s,u,v` with t_s rising, u and v in 0..1; a header line, empty lines and
// # comments are allowed. t_s counts from the first frame. Throws InputError with line and reason.
RecordedScanpath read_scanpath(const std::string& path);
std::unique_ptr<FixationTargets> make_recorded_targets(std::vector<GazePoint> points);

}  // namespace saccade
