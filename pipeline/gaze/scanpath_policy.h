// Where the eye goes next. The clock asks; a policy answers. A policy knows nothing of saccades or time steps.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/gaze/scanpath.h"

namespace saccade {

struct GazePoint {
  float u = 0.5f;  // 0..1 of the displayed frame, origin top-left
  float v = 0.5f;
};

// What a policy is asked: which fixation, when it begins, and where the eye is before it.
struct FixationRequest {
  std::int64_t index = 0;
  std::int64_t elapsed_ns = 0;  // since the first frame
  GazePoint from;
  bool first = false;  // nothing was fixated before: `from` means nothing
};

// Deterministic: the same calls give the same answers, to the bit. Neither call allocates.
class FixationTargets {
 public:
  virtual ~FixationTargets() = default;
  virtual void observe(std::int64_t elapsed_ns, const SceneView& scene) = 0;  // every frame, before choose()
  virtual GazePoint choose(const FixationRequest& request, const SceneView& scene) = 0;
  virtual void reset() = 0;  // as newly made
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
struct RecordedScanpath {
  std::vector<std::int64_t> begins_ns;
  std::vector<GazePoint> points;
};
RecordedScanpath read_scanpath(const std::string& path);
std::unique_ptr<FixationTargets> make_recorded_targets(std::vector<GazePoint> points);

}  // namespace saccade
