// The stages in order, on one thread: diff -> upload -> mips -> scanpath -> plan -> sample.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "kernels/device_texture.h"
#include "kernels/patch_batch.h"
#include "kernels/texture.h"
#include "pipeline/backend/backend.h"
#include "pipeline/backend/kept_textures.h"
#include "pipeline/gaze/lattice/lattice.h"
#include "pipeline/gaze/scanpath/scanpath.h"
#include "pipeline/log.h"
#include "pipeline/run/changed/emitted_bytes.h"
#include "pipeline/run/stats.h"
#include "pipeline/run/trace.h"
#include "pipeline/screen_cues.h"

namespace saccade {

class Allocator;  // pipeline/gaze/allocate/allocator.h
struct UvBox;
struct View;  // pipeline/views
struct TokenRule;

// When patches are sampled.
struct EmitPolicy {
  enum class Kind : std::uint8_t { kFixation, kFrames } kind = Kind::kFixation;
  std::int64_t every_frames = 1;  // kFrames: the first frame, and every so many after it
};

struct PipelineConfig {
  Backend backend{};  // the plain one
  int levels = kDefaultLevels;
  DiffConfig diff;
  LatticeConfig lattice;
  ScanpathConfig scanpath;
  SampleFormat samples;
  EmitPolicy emit;
  bool staged = false;  // run a fusing backend stage by stage: its reference, and for profiling
  UploadPath upload = UploadPath::kAuto;
  bool calibrate = true;         // see BackendConfig
  bool wait_for_patches = true;  // false: step() returns before an emission's patches are there; batch.wait() waits
  bool measure_held = false;     // of lattice adaptive: what Allocator::psnr_db() takes at each look
  bool measure_device = false;   // also take the device's own time (device_times)
  int device = 0;                // of backend cuda: its ordinal
  KeptTextures* kept = nullptr;  // borrowed: the texture is one of these, and goes back there. Null: its own
  Log log;                       // of the backend
};

// One emission: what a dump stores for it. Reused: a pool of these circulates between pipeline and writer. One that
// went into a caller's memory (PatchTarget) leaves `batch` alone, and `changed` too where that memory is a device's.
struct Emission {
  PatchBatch batch;                   // N x 3 x S x S
  PatchPlan plan;                     // N patches
  std::vector<std::uint8_t> changed;  // N; see Note [What changed]
  std::int64_t frame = 0;             // FrameView::sequence
  std::int64_t pts_ns = 0;
  float fix_u = 0, fix_v = 0;
  float pointer_u = 0, pointer_v = 0;  // as ScreenCues has them
  bool in_flight = false;
  std::int32_t damaged_tiles = 0;  // of this frame; -1: the device knows
  // Filled by Session, of a live source
  std::int64_t captured_unix_ns = 0;
  std::int64_t age_ns = 0;  // from capture until these patches were there
  std::int32_t gaps = 0;    // how often the stream was interrupted before
  // Its patches were on their way yet: settle() compares them. Null: `changed` is final
  std::shared_ptr<EmittedBytes> unsettled;
};

// Waits for the patches; `changed` is final then. For whoever takes all emissions of a pipeline that doesn't wait, in
// their order, on one thread. Where nobody does, the marks are those of the tiles.
void settle(Emission& emission);

struct StepResult {
  Gaze gaze;
  int damaged_tiles = 0;  // -1: they stay on the device
  std::int64_t bytes_uploaded = 0;
  bool emitted = false;                       // the emission was filled; after advance(): one is due
  std::shared_ptr<const DeviceMark> reading;  // until when a device reads the frame; null: nothing does
};

// Totals of all steps.
struct PipelineCounters {
  std::int64_t frames = 0;
  std::int64_t emissions = 0;
  std::int64_t damaged_tiles = 0;
  std::int64_t tiles = 0;
  std::int64_t bytes_uploaded = 0;
  std::int64_t bytes_full_upload = 0;  // what whole frames would have cost
  std::int64_t patches = 0;            // emitted
  std::int64_t patches_changed = 0;
  std::int64_t rebuilds = 0;  // size or format changed after the first frame: everything was rebuilt

  PipelineCounters& operator+=(const PipelineCounters& other);
};

// What a change of settings rebuilt.
struct Redone {
  bool differ = false;    // threshold, min_samples, noise floor: nothing but the comparison
  bool lattice = false;   // and with it the memory of what was emitted where, but not what adaptive's receiver holds
  bool scanpath = false;  // the clock starts again at the next frame
  bool texture = false;   // levels: everything is uploaded again
  bool operator==(const Redone&) const = default;
};

class Pipeline {
 public:
  // Nothing is allocated before the first frame shows its size and format. Throws UsageError for settings that no
  // frame could satisfy; prepare() throws it for those that this frame can't.
  explicit Pipeline(PipelineConfig config);
  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  // Makes everything ready for frames of this size and format; step() does it by itself when they change. The sample
  // aspect ratio is taken from this frame: a later change of it alone changes no geometry, so N stays.
  void prepare(const FrameView& frame);

  // An emission with room for this pipeline's N and S. After prepare().
  Emission make_emission();

  // One frame through all stages. Allocates nothing once prepared, as long as `emission` came from make_emission().
  // Throws UnavailableError when a GPU fails. `emission` is filled when the policy says so; see
  // PipelineConfig::wait_for_patches. into: the caller's memory, which gets the emission. Of a device (the texture's:
  // else UnavailableError) it comes in the order of its stream, and the host waits for nothing, unless the scanpath
  // looks at the damage; the frame must then live until StepResult::reading. again: the last step's frame once more,
  // after configure(): it counts as no frame, and its times are no frame's.
  StepResult step(const FrameView& frame, Emission& emission, const PatchTarget* into = nullptr, bool again = false);

  // step() in two. The frame is not needed any more by emit(), which may follow while due(), before the next frame.
  // to_device: emissions go to device memory. On return a frame is the caller's again, one on a device in the order of
  // its stream.
  StepResult advance(const FrameView& frame, bool to_device);
  bool due() const;
  // Throws UsageError and UnavailableError if this pipeline can't write to `into`. step() and emit() make the same
  // check first and change nothing when it fails. After prepare().
  void check_target(const PatchTarget& into) const;
  // The same for a caller's frames on a device.
  void check_device_frame(int device, std::span<const PlaneView> planes) const;
  void emit(Emission& emission, const PatchTarget* into = nullptr);

  // Patches of a plan of the caller's, of the texture as it is: no emission, and nothing is noted. After prepare().
  void sample(const PatchPlan& plan, const ColorSpec& color, PatchBatch& batch);

  // Views for a model, of the texture as it is: at most so many tokens by the rule, the overview first. What a call
  // returns counts as sent: the next one leaves it out until it changes. look: a point of the frame, 0 to 1, that
  // counts more. From the first call on each frame waits for its damage. Throws UsageError without a frame.
  std::vector<View> choose_views(const TokenRule& rule, int tokens, const std::optional<GazePoint>& look,
                                 bool new_only);
  // The next call has another receiver, which was sent nothing. Until then frames do not wait for their damage.
  void forget_views();
  // A view's pixels, as pipeline/views/view.h has them, before the next frame.
  void read_view(const View& view, std::span<std::uint8_t> out);

  // New settings from the next frame on; only what they touch is redone (see Redone). Throws UsageError, and keeps the
  // old settings, when the new ones are impossible. The backend can't change. An Emission made earlier may then have
  // the wrong size: step() recreates it.
  Redone configure(const PipelineConfig& config);

  // The next frame damages everything and restarts the scanpath's clock: after a seek.
  void reset();

  // Of the next frame, and of those after it until the next call.
  void set_cues(const ScreenCues& cues) { cues_ = cues; }

  // The next fixation is here, 0..1 of the displayed frame; those after it are the policy's again. Throws UsageError
  // for a place outside.
  void look(float u, float v);
  // Lattice adaptive, and views: the receiver lost this part of the frame, and it is sent again. Throws UsageError for
  // no such box, and for another lattice unless views were chosen.
  void forget(const UvBox& lost);
  // From now on fixations fall on this map's peak, with inhibition of return, until the next map; nullopt: the policy's
  // again. Holds across configure(). Throws UsageError (check_attention).
  void attend(std::optional<AttentionMap> map);
  // Asked for each fixation, before map and policy; holds across configure(). Empty: nobody.
  void set_fixation_source(FixationSource source);

  const PipelineConfig& config() const { return config_; }
  // Of the gaze file that is followed; null: none. After prepare().
  const RecordingFacts* recording() const;
  const Texture& texture() const;           // after prepare()
  const DrawableTexture* drawable() const;  // after prepare(); null: GL can't draw the texture
  bool has_frame() const;                   // whether the texture holds one: after the first step()
  const Lattice& lattice() const;           // after prepare()
  Allocator* allocator() const;             // of lattice adaptive; else, and before prepare(), null
  const Damage& damage() const;             // of the last step
  PipelineCounters counters() const;        // waits for a device that counts by itself
  std::span<const Stage> stages() const;    // those this pipeline runs, in order; after prepare()
  const DurationHistogram& stage(Stage stage) const { return stages_[static_cast<std::size_t>(stage)]; }
  // Of work on a GPU, by events, some frames late; empty where the backend has none or measure_device is off.
  const DurationHistogram& device_times(DeviceTime::Work work) const {
    return device_times_[static_cast<std::size_t>(work)];
  }
  // Before prepare(): backend gl works in this context, current on the calling thread, in place of one of its own.
  void set_gl_context(const gl::Context* context) { gl_context_ = context; }
  void set_trace(TraceWriter* trace) { trace_ = trace; }  // borrowed; null: none

 private:
  struct State;
  struct Place {
    float u, v;
  };
  class StageClock;
  template <typename F>
  auto guard_device(F&& work);
  void run(const FrameView& frame, bool to_device, Emission* emission, const PatchTarget* into, StepResult& result);
  void give_back(const FrameView& frame, StepResult& result) const;
  void sample_due(Emission& emission, const PatchTarget* into);
  bool can_emit_to_device() const;
  void damage_everything();
  Emission new_emission() const;
  void give_to(Scanpath& scanpath) const;
  void collect_device_times();
  const Damage* update_texture(const FrameView& given, StageClock& clock, StepResult& result);
  const Damage* compare_texture(const FrameView& frame, StageClock& clock, StepResult& result);
  bool should_emit(const Gaze& gaze) const;

  PipelineConfig config_;
  std::unique_ptr<State> state_;
  bool again_ = false;  // the last step was of the frame before
  ScreenCues cues_;
  std::optional<Place> look_;  // for the scanpath that is to be made
  std::optional<AttentionMap> attention_;
  FixationSource fixation_source_;
  PipelineCounters counters_;  // without what a device still counts
  std::array<DurationHistogram, kStageCount> stages_;
  std::array<DurationHistogram, kDeviceWorks> device_times_;
  TraceWriter* trace_ = nullptr;
  const gl::Context* gl_context_ = nullptr;
};

}  // namespace saccade
