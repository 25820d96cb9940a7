// The stages in order, on one thread: diff -> upload -> mips -> scanpath -> plan -> sample.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "kernels/patch_batch.h"
#include "kernels/pyramid.h"
#include "kernels/tile_differ.h"
#include "pipeline/lattice.h"
#include "pipeline/patch_history.h"
#include "pipeline/scanpath.h"
#include "pipeline/stats.h"
#include "pipeline/trace.h"

namespace saccade {

enum class Backend : std::uint8_t { kCpu };
const char* name(Backend backend);

// When patches are sampled.
struct EmitPolicy {
  enum class Kind : std::uint8_t { kFixation, kFrames } kind = Kind::kFixation;
  std::int64_t every_frames = 1;  // kFrames: frame 0, every, 2 every ...
};

struct PipelineConfig {
  Backend backend = Backend::kCpu;
  int levels = kDefaultLevels;
  DiffConfig diff;
  LatticeConfig lattice;
  ScanpathConfig scanpath;
  SampleFormat samples;
  EmitPolicy emit;
};

// One emission: what a dump stores for it. Reused: a pool of these circulates between pipeline and writer.
struct Emission {
  PatchBatch batch;                    // N x 3 x S x S
  PatchPlan plan;                      // N patches
  std::vector<std::uint8_t> changed;   // N
  std::int64_t frame = 0;              // FrameView::sequence
  std::int64_t pts_ns = 0;
  float fix_u = 0, fix_v = 0;
  bool in_flight = false;
  std::int32_t damaged_tiles = 0;      // of this frame
};

struct StepResult {
  Gaze gaze;
  int damaged_tiles = 0;
  std::int64_t bytes_uploaded = 0;
  bool emitted = false;  // `emission` was filled
};

// Totals of all steps.
struct PipelineCounters {
  std::int64_t frames = 0;
  std::int64_t emissions = 0;
  std::int64_t damaged_tiles = 0;
  std::int64_t tiles = 0;
  std::int64_t bytes_uploaded = 0;
  std::int64_t bytes_full_upload = 0;  // what whole frames would have cost
  std::int64_t patches_changed = 0;
  std::int64_t rebuilds = 0;           // size or format changed: everything was made anew
};

class Pipeline {
 public:
  // Nothing is allocated before the first frame shows its size and format.
  explicit Pipeline(PipelineConfig config);
  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  // Makes everything ready for frames of this size and format; step() does it by itself when they change.
  void prepare(const FrameView& frame);

  // An emission with room for this pipeline's N and S. After prepare().
  Emission make_emission() const;

  // One frame through all stages. Allocates nothing once prepared. `emission` is filled when the policy says so.
  StepResult step(const FrameView& frame, Emission& emission);

  // The next frame damages everything and restarts the scanpath's clock: after a seek.
  void reset();

  const PipelineConfig& config() const { return config_; }
  const Pyramid& pyramid() const;
  const Lattice& lattice() const;
  const PipelineCounters& counters() const { return counters_; }
  DurationHistogram& stage(Stage stage) { return stages_[static_cast<std::size_t>(stage)]; }
  const DurationHistogram& stage(Stage stage) const { return stages_[static_cast<std::size_t>(stage)]; }
  void set_trace(TraceWriter* trace) { trace_ = trace; }  // borrowed; null: none

 private:
  struct State;
  PipelineConfig config_;
  std::unique_ptr<State> state_;
  PipelineCounters counters_;
  std::array<DurationHistogram, kStageCount> stages_;
  TraceWriter* trace_ = nullptr;
};

}  // namespace saccade
