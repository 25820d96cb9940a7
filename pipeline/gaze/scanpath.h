// When and where the eye moves. Time is the frames' PTS; the wall clock never enters.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "kernels/damage.h"
#include "kernels/enum_names.h"
#include "kernels/texture.h"
#include "pipeline/gaze/lattice.h"

namespace saccade {

enum class FixationPolicy : std::uint8_t { kSaliency, kCenter, kRandom, kRaster, kFile };
inline constexpr EnumName<FixationPolicy> kFixationPolicies[] = {{FixationPolicy::kSaliency, "saliency"},
                                                                 {FixationPolicy::kCenter, "center"},
                                                                 {FixationPolicy::kRandom, "random"},
                                                                 {FixationPolicy::kRaster, "raster"},
                                                                 {FixationPolicy::kFile, "file"}};
constexpr std::span<const EnumName<FixationPolicy>> names_of(FixationPolicy) { return kFixationPolicies; }

struct ScanpathConfig {
  FixationPolicy policy = FixationPolicy::kSaliency;
  std::string argument;  // file: the path (CSV "t_s,u,v" lines); raster: "COLSxROWS"; center: "u,v"
  double rate_hz = 4.0;
  std::uint64_t seed = 0;
  double fov_deg = kDefaultFovDeg;
  bool operator==(const ScanpathConfig&) const = default;
};

// What the eye does at one frame.
struct Gaze {
  float u = 0.5f;  // where it points now: 0..1 of the displayed frame, origin top-left
  float v = 0.5f;
  bool in_flight = false;     // inside a saccade at this frame's time
  bool landed = false;        // the first frame at or after a landing: the moment `--every fixation` emits
  std::int64_t fixation = 0;  // number of the current (or coming) fixation, from 0
};

// What a policy may look at. Everything belongs to the caller and is valid during the call.
struct SceneView {
  const Damage* damage = nullptr;  // of this frame
  const Levels* levels = nullptr;  // after this frame's refresh
  FrameGeometry geometry;
};

// Note [Scanpath clock]
// Fixation k begins when time passes t0 + k / rate, t0 being the first frame's PTS: accumulated time, so the mean rate
// is exact at any frame rate. The saccade departs at that instant, not at the frame that reveals it, and lands after
// saccade_duration_s(amplitude), capped at half a period. Several fixations due at one frame (low rates, gaps) make one
// saccade: the eye goes where the newest wants. A PTS that runs backwards, or a reset(), restarts the clock there.
class Scanpath {
 public:
  virtual ~Scanpath() = default;
  virtual Gaze step(std::int64_t pts_ns, const SceneView& scene) = 0;  // once per frame, in order; allocates nothing
  virtual void reset() = 0;                                            // seek
  // The next fixation that begins is here, whatever the policy says; those after it are the policy's again.
  virtual void look(float u, float v) = 0;
};

// Throws UsageError / InputError (a scanpath file that can't be read: line and reason).
std::unique_ptr<Scanpath> make_scanpath(const ScanpathConfig& config, const FrameGeometry& geometry);

}  // namespace saccade
