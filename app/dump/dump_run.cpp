#include "app/dump/dump_run.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <utility>
#include <vector>

#include "app/dump/dump_queue.h"
#include "app/dump/dump_target.h"
#include "app/dump/dump_writer.h"
#include "app/dump/leave_if_stuck.h"
#include "app/dump/progress.h"
#include "app/exit_code.h"
#include "app/options/checks.h"
#include "app/options/hint_flags.h"
#include "pipeline/clock.h"
#include "pipeline/error.h"
#include "pipeline/source/open.h"

namespace saccade {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kFramesAhead = 4;  // enough to never starve; more only pushes frames out of the cache
constexpr std::size_t kEmissionSlots = 8;
constexpr std::size_t kGapsListed = 1000;
constexpr auto kHashPoll = std::chrono::milliseconds(50);

std::vector<Emission> make_slots(Pipeline& pipeline) {
  std::vector<Emission> slots;
  for (std::size_t i = 0; i < kEmissionSlots; ++i) slots.push_back(pipeline.make_emission());
  return slots;
}

// The first frame decides sizes; none is bad input, whatever the decoder said on the way.
Frame first_frame(FrameQueue& queue, const DecodeThread& decoder, const FrameSource& source, const std::string& uri,
                  const RunInterrupt& interrupt) {
  Frame frame;
  if (queue.pop(frame)) return frame;
  if (interrupt.requested()) {
    throw Error(ErrorKind::kInterrupted,
                fmt::format("{}: interrupted before the first frame; nothing was written", uri));
  }
  if (decoder.failed() && !source.fault().what.empty()) throw_fault(source.fault());
  throw InputError(fmt::format("{}: no frame in the range asked for; check --start, --duration and --vf", uri));
}

// The writer waits for patches, not the pipeline; a live source's are waited for where their age is taken.
PipelineConfig dump_config(const Options& options, bool live) {
  PipelineConfig config = pipeline_in_force(options, live);
  config.wait_for_patches = live;
  return config;
}

// Everything of one run that outlives its set-up. Members in the order in which they depend on each other.
class DumpRun {
 public:
  DumpRun(const Options& options, std::string uri, std::string directory, InputHash& hash,
          std::unique_ptr<FrameSource> source, RunInterrupt& interrupt, TargetLock& lock);
  DumpOutcome run();

 private:
  void finish(DumpWriter& writer);
  void step_all(EmissionQueue& emissions, const DumpWriter& writer, Frame frame);
  bool step(Frame& frame, Emission& emission);
  ProgressState progress_state() const;
  DumpOutcome outcome(const DumpWriter& writer);

  const Options& options_;
  const std::string uri_;
  const std::string directory_;
  InputHash& hash_;
  RunInterrupt& interrupt_;
  TargetLock& lock_;
  Clock::time_point begin_ = Clock::now();
  std::unique_ptr<FrameSource> source_;
  Pipeline pipeline_;
  const QueuePolicy policy_;
  FrameQueue frames_;
  RunInterrupt::Scope scope_;
  DecodeThread decoder_;
  LiveMeter live_;
  std::vector<LiveGap> gaps_;
  DurationHistogram wait_times_;  // of this thread, for a frame
  bool hash_came_late_ = false;   // meta.json lacks it
  std::int64_t first_pts_ns_ = 0;
  std::int64_t last_pts_ns_ = 0;
};

DumpRun::DumpRun(const Options& options, std::string uri, std::string directory, InputHash& hash,
                 std::unique_ptr<FrameSource> source, RunInterrupt& interrupt, TargetLock& lock)
    : options_(options),
      uri_(std::move(uri)),
      directory_(std::move(directory)),
      hash_(hash),
      interrupt_(interrupt),
      lock_(lock),
      source_(std::move(source)),
      pipeline_(dump_config(options, source_->info().live)),
      policy_(policy_in_force(options.queue_policy, source_->info().live)),
      frames_(capacity_for(policy_, kFramesAhead), policy_),
      scope_(interrupt, *source_, frames_),
      decoder_(*source_, frames_) {}

DumpOutcome DumpRun::run() {
  Frame frame = first_frame(frames_, decoder_, *source_, uri_, interrupt_);
  prepare_for(uri_, pipeline_, frame.view());
  const StreamInfo& info = source_->info();
  spdlog::info("{}: {} {}x{}, decoder {}, backend {}, {}", uri_, info.codec, info.width_px, info.height_px,
               decoder_text(info), name(pipeline_.config().backend), pipeline_.lattice().describe());
  if (const int threshold = pipeline_.config().diff.threshold; threshold != options_.pipeline.diff.threshold) {
    spdlog::info("{}: threshold {}, for a live source; --threshold 0 keeps every difference", uri_, threshold);
  }
  if (!options_.backend_reason.empty())
    spdlog::debug("backend {}: {}", name(pipeline_.config().backend), options_.backend_reason);
  const DumpShape shape{static_cast<std::int64_t>(pipeline_.lattice().patch_count()),
                        options_.pipeline.lattice.patch_size,
                        options_.pipeline.samples.type,
                        frame.view().width_px,
                        frame.view().height_px,
                        info.live};
  EmissionQueue emissions(make_slots(pipeline_));  // all memory is there before an old dump goes
  prepare_target(directory_, options_.dump, lock_);
  hash_came_late_ = hash_.now().sha256.empty();
  write_json(directory_ + "/meta.json", make_meta(options_, hash_.now(), info, pipeline_));
  DumpWriter writer(std::make_unique<DumpFiles>(directory_, shape), emissions, [this] {
    source_->interrupt();
    frames_.close_now();
  });
  try {
    step_all(emissions, writer, std::move(frame));
  } catch (...) {  // what was sampled before is written all the same; without a manifest
    emissions.finish();
    writer.drain();
    throw;
  }
  emissions.finish();
  finish(writer);
  return outcome(writer);
}

// The arrays first, then the decoder: what was sampled is on disk before anything waits for the source.
void DumpRun::finish(DumpWriter& writer) {
  try {
    writer.finish();
  } catch (const Error& error) {
    const LeaveIfStuck leave(error_text(error), exit_code(error.kind()));
    decoder_.stop();
    throw;
  }
  std::optional<LeaveIfStuck> leave;
  if (interrupt_.requested()) {
    leave.emplace(interrupted_text(directory_, pipeline_.counters().emissions), ExitCode::kInterrupted);
  }
  decoder_.stop();
  if (decoder_.failed() && !interrupt_.requested() && source_->fault().kind == ErrorKind::kUnavailable) {
    throw_fault(source_->fault());  // no manifest: the input may have more
  }
}

void DumpRun::step_all(EmissionQueue& emissions, const DumpWriter& writer, Frame frame) {
  Progress progress(options_, uri_, source_->info());
  first_pts_ns_ = frame.view().pts_ns;
  Emission* slot = emissions.acquire();
  bool more = true;
  while (more && slot != nullptr) {
    const bool emitted = step(frame, *slot);
    source_->recycle(std::move(frame));
    if (emitted) {
      emissions.submit(slot);
      slot = emissions.acquire();
    }
    if (progress.due()) progress.update(progress_state());
    const auto waiting_since = Clock::now();
    frame = Frame();
    more = frames_.pop(frame);
    wait_times_.record(std::chrono::nanoseconds(Clock::now() - waiting_since).count());
  }
  if (slot != nullptr && !writer.failed()) progress.finish(progress_state());
}

// True: `emission` was filled.
bool DumpRun::step(Frame& frame, Emission& emission) {
  const FrameView& view = frame.view();
  const FrameOrigin& origin = frame.origin();
  if (live_.begins_after_gap(origin)) {
    pipeline_.reset();
    if (gaps_.size() < kGapsListed) {
      gaps_.push_back({pipeline_.counters().emissions, view.sequence, view.pts_ns,
                       static_cast<double>(view.pts_ns - last_pts_ns_) * 1e-9});
    }
  }
  last_pts_ns_ = view.pts_ns;
  const StepResult result = pipeline_.step(view, emission);
  const std::int64_t age_ns = live_.note_done(origin);
  if (result.emitted && age_ns != 0) {
    emission.captured_unix_ns = origin.captured_ns + unix_minus_steady_ns();
    emission.age_ns = age_ns;
    emission.gaps = origin.gaps;
  }
  return result.emitted;
}

ProgressState DumpRun::progress_state() const {
  const PipelineCounters& totals = pipeline_.counters();
  const QueueCounters queue = frames_.counters();
  return {totals.frames,        totals.emissions, queue.dropped_stale + queue.dropped_closed,
          totals.damaged_tiles, totals.tiles,     static_cast<double>(last_pts_ns_ - first_pts_ns_) * 1e-9};
}

DumpOutcome DumpRun::outcome(const DumpWriter& writer) {
  DumpOutcome outcome;
  outcome.directory = directory_;
  RunFacts facts{
      pipeline_, *source_, frames_, decoder_.times(), wait_times_, writer.times(), live_, gaps_, name(policy_), "",
      0,         0,        0};
  if (decoder_.failed() && !interrupt_.requested()) facts.stream_error = error_text(source_->fault());
  facts.bytes_written = writer.files().bytes_written();
  facts.wall_s = std::chrono::duration<double>(Clock::now() - begin_).count();
  facts.media_s = static_cast<double>(last_pts_ns_ - first_pts_ns_) * 1e-9;
  Json manifest = make_manifest(facts);
  while (!hash_.wait(kHashPoll) && !interrupt_.requested()) continue;
  const bool live = source_->info().live;  // has no end but the one it is given
  outcome.kind = interrupt_.requested() ? live ? DumpOutcome::Kind::kStopped : DumpOutcome::Kind::kInterrupted
                                        : DumpOutcome::Kind::kComplete;
  if (outcome.kind == DumpOutcome::Kind::kInterrupted) {
    manifest["complete"] = false;
  } else {
    if (hash_came_late_ && !hash_.now().sha256.empty()) {
      write_json(directory_ + "/meta.json", make_meta(options_, hash_.now(), source_->info(), pipeline_));
    }
    write_json(directory_ + "/manifest.json", manifest);
    if (input_damaged(facts) && outcome.kind == DumpOutcome::Kind::kComplete)
      outcome.kind = DumpOutcome::Kind::kDamaged;
    outcome.damage = damage_summary(facts);
  }
  manifest["path"] = directory_;
  manifest["patches"] = pipeline_.lattice().patch_count();
  outcome.result = std::move(manifest);
  return outcome;
}

}  // namespace

void prepare_for(const std::string& uri, Pipeline& pipeline, const FrameView& frame) {
  try {
    pipeline.prepare(frame);
  } catch (const InputError& error) {
    throw_fault(error.fault(), uri);
  } catch (const UsageError& error) {
    throw_fault(error.fault(), uri);
  }
}

std::string interrupted_text(const std::string& directory, std::int64_t emissions) {
  return fmt::format("interrupted; {} holds the first {} emissions, without a manifest", directory, emissions);
}

DumpOutcome dump_input(const Options& options, const std::string& uri, const std::string& directory,
                       RunInterrupt& interrupt) {
  TargetLock lock;
  lock.take(directory);
  interrupt.set_opening(uri);
  InputHash hash(uri);
  const InputIdentity& identity = options.dump.resume ? hash.finish() : hash.now();
  if (decide_target(directory, options.dump, meta_identity(options, identity)) == TargetAction::kSkip) {
    DumpOutcome outcome;
    interrupt.set_opening({});
    outcome.kind = DumpOutcome::Kind::kSkipped;
    outcome.directory = directory;
    outcome.result = read_json(directory + "/manifest.json");
    outcome.result["path"] = directory;
    outcome.result["skipped"] = true;
    return outcome;
  }
  SourceConfig config = options.source;
  config.uri = uri;
  auto source = open_source(config);
  interrupt.set_opening({});
  return DumpRun(options, uri, directory, hash, std::move(source), interrupt, lock).run();
}

}  // namespace saccade
