#include "pipeline/run/pipeline.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "gpu/nvtx_range.h"
#include "pipeline/backend/texture_layout.h"
#include "pipeline/clock.h"
#include "pipeline/error.h"
#include "pipeline/run/pipeline_state.h"

namespace saccade {
// Splits the time of one step into stages: lap() closes the stage that ends now.
class Pipeline::StageClock {
 public:
  StageClock(Pipeline& pipeline, std::int64_t frame)
      : pipeline_(pipeline), frame_(frame), begin_ns_(steady_now_ns()), last_ns_(begin_ns_) {}

  void lap(Stage stage) {
    const std::int64_t now = steady_now_ns();
    record(stage, last_ns_, now);
    last_ns_ = now;
  }
  void finish() { record(Stage::kFrame, begin_ns_, last_ns_); }

 private:
  void record(Stage stage, std::int64_t begin_ns, std::int64_t end_ns) {
    if (pipeline_.again_) return;
    pipeline_.stages_[static_cast<std::size_t>(stage)].record(end_ns - begin_ns);
    if (pipeline_.trace_ != nullptr)
      pipeline_.trace_->complete(name(stage), kPipelineTraceThread, begin_ns, end_ns, frame_);
  }
  Pipeline& pipeline_;
  std::int64_t frame_;
  std::int64_t begin_ns_;
  std::int64_t last_ns_;
};

PipelineCounters& PipelineCounters::operator+=(const PipelineCounters& other) {
  frames += other.frames;
  emissions += other.emissions;
  damaged_tiles += other.damaged_tiles;
  tiles += other.tiles;
  bytes_uploaded += other.bytes_uploaded;
  bytes_full_upload += other.bytes_full_upload;
  patches += other.patches;
  patches_changed += other.patches_changed;
  rebuilds += other.rebuilds;
  return *this;
}

Pipeline::Pipeline(PipelineConfig config) : config_(std::move(config)) {}
Pipeline::~Pipeline() = default;

void Pipeline::prepare(const FrameView& frame) {
  if (state_ && state_->fits(frame)) return;
  const PyramidLayout layout = texture_layout(frame.width_px, frame.height_px, frame.layout, config_.levels);
  const FrameGeometry geometry{frame.width_px, frame.height_px, static_cast<double>(frame.sar), config_.levels};
  const bool rebuild = state_ != nullptr;
  counters_ = counters();
  state_.reset();  // frees the old texture before the new one is made
  state_ = guard_device([&] { return std::make_unique<State>(config_, layout, geometry, frame.space, gl_context_); });
  counters_.rebuilds += rebuild ? 1 : 0;
  give_to(*state_->scanpath);
  if (look_) state_->scanpath->look(look_->u, look_->v);
  look_.reset();
}

// What was pushed from outside outlives a scanpath.
void Pipeline::give_to(Scanpath& scanpath) const {
  if (attention_) scanpath.attend(&*attention_);
  if (fixation_source_) scanpath.set_source(fixation_source_);
}

Redone Pipeline::configure(const PipelineConfig& config) {
  if (config.backend != config_.backend) throw UsageError("the backend can't change while the pipeline runs");
  Redone redone;
  redone.differ = config.diff != config_.diff;
  redone.texture = config.levels != config_.levels;
  redone.lattice = redone.texture || config.lattice != config_.lattice;
  const bool ignores = config.scanpath.ignore != config_.scanpath.ignore;
  redone.scanpath = redone.texture || config.scanpath != config_.scanpath;
  const bool samples = config.samples != config_.samples;
  if (state_) {
    FrameGeometry geometry = state_->geometry_px;
    geometry.levels = config.levels;
    // Made first: a refusal leaves the old settings in force.
    auto lattice = redone.lattice ? make_lattice(config.lattice, geometry) : nullptr;
    auto scanpath = redone.scanpath ? make_scanpath(config.scanpath, geometry) : nullptr;
    const bool keeps = redone.lattice && !ignores && state_->allocator && state_->allocator->configure(config.lattice);
    const bool allocates = (redone.lattice || ignores) && !redone.texture && !keeps;
    auto allocator = allocates ? state_->make_allocator(config) : nullptr;
    if (scanpath) give_to(*scanpath);
    if (redone.texture) {
      counters_ = counters();
      state_.reset();
    } else {
      if (redone.differ) {
        state_->texture->configure(config.diff);
        state_->shown.reset();
      }
      if (lattice) state_->lattice = std::move(lattice);
      if (allocates) state_->allocator = std::move(allocator);
      if (scanpath) state_->scanpath = std::move(scanpath);
    }
  }
  config_ = config;
  if (state_ && redone.lattice) state_->make_sink(state_->sink->on_device());
  if (state_ && samples) state_->sink->forget_places();
  return redone;
}

Emission Pipeline::make_emission() {
  return guard_device([this] { return new_emission(); });
}

StepResult Pipeline::step(const FrameView& frame, Emission& emission, const PatchTarget* into, bool again) {
  again_ = again;
  return guard_device([&] {
    prepare(frame);
    if (into != nullptr) check_target(*into);
    StepResult result;
    try {
      run(frame, is_on_device(into), &emission, into, result);
    } catch (...) {  // what unwinds may let the frame go
      if (result.reading) result.reading->wait();
      throw;
    }
    return result;
  });
}

StepResult Pipeline::advance(const FrameView& frame, bool to_device) {
  again_ = false;
  return guard_device([&] {
    prepare(frame);
    StepResult result;
    try {
      run(frame, to_device && can_emit_to_device(), nullptr, nullptr, result);
    } catch (...) {
      give_back(frame, result);
      throw;
    }
    give_back(frame, result);
    return result;
  });
}

void Pipeline::give_back(const FrameView& frame, StepResult& result) const {
  if (frame.space == MemorySpace::kCuda) {
    if (state_->can.device != nullptr) state_->can.device->give_back(frame.stream);
  } else if (result.reading) {
    result.reading->wait();
  }
  result.reading.reset();
}

bool Pipeline::due() const { return state_ && state_->due; }

void Pipeline::emit(Emission& emission, const PatchTarget* into) {
  guard_device([&] {
    if (into != nullptr) check_target(*into);
    StageClock clock(*this, state_->due->frame);
    sample_due(emission, into);
    clock.lap(Stage::kSample);
  });
}

void Pipeline::sample(const PatchPlan& plan, const ColorSpec& color, PatchBatch& batch) {
  guard_device([&] { state_->texture->sample(plan, color, batch); });
}

// emission: null: one that is due stays so. result.reading holds also where this throws.
void Pipeline::run(const FrameView& frame, bool to_device, Emission* emission, const PatchTarget* into,
                   StepResult& result) {
  const NvtxRange range("frame");
  State& s = *state_;
  s.due.reset();
  s.place_emissions(to_device);
  StageClock clock(*this, frame.sequence);

  const Damage* const damage = update_texture(frame, clock, result);
  s.has_frame = true;
  s.color = frame.color;
  result.damaged_tiles = damage != nullptr ? damage->count() : -1;
  s.sink->note_frame(damage);
  if (s.allocator) s.allocator->note(frame.pts_ns, *damage, cues_);
  if (s.views) s.views->note(frame.pts_ns, *damage);
  {
    const NvtxRange scanpath("scanpath");
    const SceneView scene{damage,        damage != nullptr ? s.texture.get() : nullptr,
                          s.geometry_px, frame.sequence,
                          frame.pts_ns,  s.lattice.get()};
    result.gaze = s.scanpath->step(frame.pts_ns, scene);
  }
  clock.lap(Stage::kScanpath);

  if (should_emit(result.gaze)) {
    s.due = State::Due{frame.sequence, frame.pts_ns, frame.color, result.gaze, result.damaged_tiles, cues_};
    result.emitted = true;
    if (emission != nullptr) {
      sample_due(*emission, into);
      clock.lap(Stage::kSample);
    }
  }
  clock.finish();
  if (config_.measure_device) collect_device_times();

  if (again_) return;
  ++counters_.frames;
  counters_.tiles += s.layout.tiles.count();
  counters_.bytes_full_upload += s.layout.level0_bytes();
  if (s.sink->on_device()) return;  // the device counts
  counters_.damaged_tiles += damage->count();
  counters_.bytes_uploaded += result.bytes_uploaded;
}

// Null: the damage stays on the device.
const Damage* Pipeline::update_texture(const FrameView& given, StageClock& clock, StepResult& result) {
  const NvtxRange range("update");
  State& s = *state_;
  FrameView frame = given;
  // What the source knows of the frame before helps only if the texture was brought up to that.
  if (s.shown != frame.sequence - 1) frame.may_differ.reset();
  s.shown.reset();
  s.unchanged = frame.may_differ && frame.may_differ->empty() && !s.sink->on_device();
  if (s.unchanged) {
    s.shown = frame.sequence;
    clock.lap(s.can.staged == nullptr ? Stage::kUpdate : Stage::kDiff);
    return &s.nothing;
  }
  const Damage* const damage = compare_texture(frame, clock, result);
  s.shown = frame.sequence;
  return damage;
}

const Damage* Pipeline::compare_texture(const FrameView& frame, StageClock& clock, StepResult& result) {
  Texture& texture = *state_->texture;
  StagedTexture* const steps = state_->can.staged;
  if (steps == nullptr) {
    texture.update(frame);
    if (state_->sink->on_device()) {
      result.reading = state_->can.device->reading();
      state_->can.device->note_damage();
      if (!state_->scanpath->needs_scene() && !state_->allocator && !state_->views) {
        clock.lap(Stage::kUpdate);
        return nullptr;
      }
    }
    const Damage& damage = texture.damage();
    result.bytes_uploaded = texture.bytes_written();
    clock.lap(Stage::kUpdate);
    return &damage;
  }
  const Damage& damage = steps->diff(frame);
  clock.lap(Stage::kDiff);
  result.bytes_uploaded = steps->upload(frame, damage);
  clock.lap(Stage::kUpload);
  steps->refresh_mips(damage);
  clock.lap(Stage::kMips);
  return &damage;
}

void Pipeline::collect_device_times() {
  TimedTexture* const timed = state_->can.timed;
  for (DeviceTime time; timed != nullptr && timed->poll_device_time(time);) {
    device_times_[static_cast<std::size_t>(time.work)].record(time.ns);
  }
}

bool Pipeline::should_emit(const Gaze& gaze) const {
  if (config_.emit.kind == EmitPolicy::Kind::kFixation) return gaze.landed;
  return again_ || counters_.frames % config_.emit.every_frames == 0;
}

PipelineCounters Pipeline::counters() const {
  PipelineCounters all = counters_;
  if (!state_ || !state_->device_counts) return all;
  const DeviceTotals totals = state_->can.device->totals();
  all.damaged_tiles += totals.damaged_tiles;
  all.bytes_uploaded += totals.bytes_written;
  all.patches_changed += totals.patches_changed;
  return all;
}

void Pipeline::reset() {
  if (!state_) return;
  damage_everything();
  state_->scanpath->reset();
  if (state_->allocator) state_->allocator->forget();
  if (state_->views) state_->views->forget();
}

void Pipeline::look(float u, float v) {
  if (!(u >= 0 && u <= 1 && v >= 0 && v <= 1)) {
    throw UsageError(fmt::format("look at {}, {}: both lie between 0 and 1", u, v));
  }
  if (state_) {
    state_->scanpath->look(u, v);
  } else {
    look_ = Place{u, v};
  }
}

void Pipeline::forget(const UvBox& lost) {
  const auto sane = [](float from, float to) { return from >= 0 && from < to && to <= 1; };
  if (!sane(lost.left, lost.right) || !sane(lost.top, lost.bottom)) {
    throw UsageError(fmt::format("forget {}, {} to {}, {}: a box lies between 0 and 1, and has a size", lost.left,
                                 lost.top, lost.right, lost.bottom));
  }
  const bool has_views = state_ && state_->views;
  if (lattice_kind(config_.lattice) != LatticeKind::kAdaptive && !has_views) {
    throw UsageError(OfOption("lattice", name(lattice_kind(config_.lattice))),
                     "remembers nothing of the receiver; adaptive does");
  }
  if (state_ && state_->allocator) state_->allocator->forget(lost);
  if (has_views) state_->views->forget(tiles_touched(lost, state_->geometry_px));
}

void Pipeline::attend(std::optional<AttentionMap> map) {
  if (map) check_attention(*map);
  if (state_) state_->scanpath->attend(map ? &*map : nullptr);
  attention_ = std::move(map);
}

void Pipeline::set_fixation_source(FixationSource source) {
  if (state_) state_->scanpath->set_source(source);
  fixation_source_ = std::move(source);
}

void Pipeline::damage_everything() {
  if (!state_) return;
  state_->texture->damage_everything();
  state_->shown.reset();
}

std::span<const Stage> Pipeline::stages() const {
  static constexpr std::array kStaged{Stage::kDiff,     Stage::kUpload, Stage::kMips,
                                      Stage::kScanpath, Stage::kSample, Stage::kFrame};
  static constexpr std::array kFused{Stage::kUpdate, Stage::kScanpath, Stage::kSample, Stage::kFrame};
  if (state_->can.staged == nullptr) return kFused;
  return kStaged;
}

const RecordingFacts* Pipeline::recording() const { return state_->scanpath->recording(); }
const Texture& Pipeline::texture() const { return *state_->texture; }
const DrawableTexture* Pipeline::drawable() const { return state_->can.drawable; }
bool Pipeline::has_frame() const { return state_ != nullptr && state_->has_frame; }
const Lattice& Pipeline::lattice() const { return *state_->lattice; }
Allocator* Pipeline::allocator() const { return state_ ? state_->allocator.get() : nullptr; }
const Damage& Pipeline::damage() const { return state_->unchanged ? state_->nothing : state_->texture->damage(); }

}  // namespace saccade
