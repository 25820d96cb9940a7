// When and where the eye moves. Time is the frames' PTS; the wall clock never enters.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/damage.h"
#include "kernels/enum_names.h"
#include "kernels/texture.h"
#include "pipeline/gaze/ignore.h"
#include "pipeline/gaze/lattice/lattice.h"
#include "pipeline/gaze/recorded/recording.h"

namespace saccade {

enum class FixationPolicy : std::uint8_t { kNovelty, kSaliency, kCenter, kRandom, kRaster, kFile };
inline constexpr EnumName<FixationPolicy> kFixationPolicies[] = {
    {FixationPolicy::kNovelty, "novelty"}, {FixationPolicy::kSaliency, "saliency"}, {FixationPolicy::kCenter, "center"},
    {FixationPolicy::kRandom, "random"},   {FixationPolicy::kRaster, "raster"},     {FixationPolicy::kFile, "file"}};
constexpr std::span<const EnumName<FixationPolicy>> names_of(FixationPolicy) { return kFixationPolicies; }

// How a file's rows are followed: each a fixation that the eye flies to, or as gaze, without any dynamics of ours.
enum class GazeMode : std::uint8_t { kFixations, kRaw };
inline constexpr EnumName<GazeMode> kGazeModes[] = {{GazeMode::kFixations, "fixations"}, {GazeMode::kRaw, "raw"}};
constexpr std::span<const EnumName<GazeMode>> names_of(GazeMode) { return kGazeModes; }

struct ScanpathConfig {
  FixationPolicy policy = FixationPolicy::kNovelty;
  std::string argument;  // file: the path (read_recording); raster: "COLSxROWS"; center: "u,v"
  std::shared_ptr<const RecordedScanpath> recorded;  // in place of a file's; policy kFile
  GazeMode gaze = GazeMode::kFixations;              // file
  GazeUnits gaze_units;                              // file
  IgnoreRegions ignore;                              // novelty, saliency
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
  bool landed = false;        // the first frame at or after a landing: the moment that `every fixation` emits
  std::int64_t fixation = 0;  // number of the current (or coming) fixation, from 0
};

// What a policy may look at. Everything belongs to the caller and is valid during the call.
struct SceneView {
  const Damage* damage = nullptr;  // of this frame
  const Levels* levels = nullptr;  // after this frame's refresh
  FrameGeometry geometry;
  std::int64_t frame = 0;  // FrameView::sequence and pts_ns of the frame at which the eye is asked
  std::int64_t pts_ns = 0;
  const Lattice* lattice = nullptr;  // what is seen of a place that the eye looks at; null: not known
};

// What a policy is asked: which fixation, when it begins, and where the eye is before it.
struct FixationRequest {
  std::int64_t index = 0;
  std::int64_t elapsed_ns = 0;  // since the first frame
  GazePoint from;
  bool first = false;  // nothing was fixated before: `from` means nothing
};

// Asked whenever a fixation is due, on the thread that steps; nullopt leaves it to the policy. What it throws goes
// through step(), and the next frame asks again. A place outside 0..1 is a UsageError.
using FixationSource = std::function<std::optional<GazePoint>(const FixationRequest&, const SceneView&)>;

// A model's attention: rows x cols weights, row-major, over a box of the displayed frame. Only differences count: the
// least finite weight is 0. NaN and -inf mean never. The box may reach beyond the frame; cells whose centre lies
// outside count as never.
struct AttentionMap {
  int rows = 0, cols = 0;
  std::vector<float> weights;
  double left_u = 0, top_v = 0, right_u = 1, bottom_v = 1;
};
// Throws UsageError for what can be no such map: sizes, no usable weight inside the frame, +inf, an empty box.
void check_attention(const AttentionMap& map);

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
  // From now on fixations fall on the map's peak, with inhibition of return, until the next map. Null: the policy's
  // again. The map is read during the call.
  virtual void attend(const AttentionMap* map) = 0;
  // Who is asked before map and policy (but after look()); an empty one: nobody.
  virtual void set_source(FixationSource source) = 0;
  // Whether the next step() reads the scene: without it, damage and levels may be null.
  virtual bool needs_scene() const = 0;
  virtual const RecordingFacts* recording() const { return nullptr; }  // of the file that is followed; null: none
};

// Throws UsageError / InputError (a gaze file that can't be read: line and reason). Raw gaze is linear between two
// rows, and stays at the last row over a blink or a gap of more than 75 ms; it "lands" `rate` times a second.
std::unique_ptr<Scanpath> make_scanpath(const ScanpathConfig& config, const FrameGeometry& geometry);

}  // namespace saccade
