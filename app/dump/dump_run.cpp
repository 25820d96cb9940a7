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
#include "app/options/hint_flags.h"
#include "pipeline/error.h"
#include "pipeline/options/resolve.h"
#include "pipeline/run/session.h"

namespace saccade {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kFramesAhead = 4;  // enough to never starve; more only pushes frames out of the cache
constexpr std::size_t kEmissionSlots = 8;
constexpr auto kHashPoll = std::chrono::milliseconds(50);

std::vector<Emission> make_slots(Session& session) {
  std::vector<Emission> slots;
  for (std::size_t i = 0; i < kEmissionSlots; ++i) slots.push_back(session.make_emission());
  return slots;
}

// The writer waits for patches, not the pipeline.
SessionConfig dump_config(const Options& options, const std::string& uri) {
  SessionConfig config = session_config(options, uri);
  config.frames_ahead = kFramesAhead;
  config.pipeline.wait_for_patches = false;
  return config;
}

// Everything of one run that outlives its set-up: the session, and what becomes of its emissions.
class DumpRun {
 public:
  DumpRun(const Options& options, std::string directory, InputHash& hash, Session& session, RunInterrupt& interrupt,
          TargetLock& lock);
  DumpOutcome run();

 private:
  void start();
  void say_what_runs() const;
  void finish(DumpWriter& writer);
  void step_all(EmissionQueue& emissions, const DumpWriter& writer);
  ProgressState progress_state() const;
  DumpFacts facts(const DumpWriter& writer) const;
  DumpOutcome outcome(const DumpWriter& writer);

  const Options& options_;
  const std::string& uri_;
  const std::string directory_;
  InputHash& hash_;
  Session& session_;
  RunInterrupt& interrupt_;
  TargetLock& lock_;
  Clock::time_point begin_ = Clock::now();
  RunInterrupt::Scope scope_;
  bool hash_came_late_ = false;  // meta.json lacks it
};

DumpRun::DumpRun(const Options& options, std::string directory, InputHash& hash, Session& session,
                 RunInterrupt& interrupt, TargetLock& lock)
    : options_(options),
      uri_(session.info().uri),
      directory_(std::move(directory)),
      hash_(hash),
      session_(session),
      interrupt_(interrupt),
      lock_(lock),
      scope_(interrupt, session) {}

void DumpRun::start() {
  try {
    session_.start();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kInterrupted) throw;
    throw Error(ErrorKind::kInterrupted, fmt::format("{}; nothing was written", error.what()));
  }
}

void DumpRun::say_what_runs() const {
  const StreamInfo& info = session_.info();
  const PipelineConfig& config = session_.pipeline().config();
  spdlog::info("{}: {} {}x{}, decoder {}, backend {}, {}", uri_, info.codec, info.width_px, info.height_px,
               decoder_text(info), name(config.backend), session_.pipeline().lattice().describe());
  if (const int threshold = config.diff.threshold; threshold != options_.pipeline.diff.threshold) {
    spdlog::info("{}: threshold {}, for a live source; --threshold 0 keeps every difference", uri_, threshold);
  }
  if (!options_.backend_reason.empty()) spdlog::debug("backend {}: {}", name(config.backend), options_.backend_reason);
}

DumpOutcome DumpRun::run() {
  start();
  say_what_runs();
  const Pipeline& pipeline = session_.pipeline();
  const StreamInfo& info = session_.info();
  const PyramidLayout& layout = pipeline.texture().layout();
  const DumpShape shape{static_cast<std::int64_t>(pipeline.lattice().patch_count()),
                        options_.pipeline.lattice.patch_size,
                        options_.pipeline.samples.type,
                        layout.width_px,
                        layout.height_px,
                        info.live};
  EmissionQueue emissions(make_slots(session_));  // all memory is there before an old dump goes
  prepare_target(directory_, options_.dump, lock_);
  hash_came_late_ = hash_.now().sha256.empty();
  write_json(directory_ + "/meta.json", make_meta(options_, hash_.now(), info, pipeline));
  DumpWriter writer(std::make_unique<DumpFiles>(directory_, shape), emissions, [this] { session_.interrupt(); });
  try {
    step_all(emissions, writer);
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
    session_.stop();
    throw;
  }
  std::optional<LeaveIfStuck> leave;
  if (interrupt_.requested()) {
    leave.emplace(interrupted_text(directory_, session_.pipeline().counters().emissions), ExitCode::kInterrupted);
  }
  session_.stop();
  const Feed& feed = session_.feed();
  if (feed.failed() && !interrupt_.requested() && feed.fault().kind == ErrorKind::kUnavailable) {
    throw_fault(feed.fault());  // no manifest: the input may have more
  }
}

void DumpRun::step_all(EmissionQueue& emissions, const DumpWriter& writer) {
  Progress progress(options_, uri_, session_.info());
  Emission* slot = emissions.acquire();
  while (slot != nullptr) {
    const SessionStatus status = session_.next(*slot).status;
    if (status != SessionStatus::kEmission && status != SessionStatus::kFrame) break;
    if (status == SessionStatus::kEmission) {
      emissions.submit(slot);
      slot = emissions.acquire();
    }
    if (progress.due()) progress.update(progress_state());
  }
  if (slot != nullptr && !writer.failed()) progress.finish(progress_state());
}

ProgressState DumpRun::progress_state() const {
  const PipelineCounters& totals = session_.pipeline().counters();
  const QueueCounters queue = session_.feed().queue_counters();
  return {totals.frames,        totals.emissions, queue.dropped_stale + queue.dropped_closed,
          totals.damaged_tiles, totals.tiles,     static_cast<double>(session_.media_ns()) * 1e-9};
}

DumpFacts DumpRun::facts(const DumpWriter& writer) const {
  DumpFacts facts;
  facts.session = session_.facts();
  facts.session.pipeline.patches_changed = writer.files().patches_changed();  // after settle()
  facts.write_times = writer.times();
  facts.bytes_written = writer.files().bytes_written();
  facts.wall_s = std::chrono::duration<double>(Clock::now() - begin_).count();
  return facts;
}

DumpOutcome DumpRun::outcome(const DumpWriter& writer) {
  DumpOutcome outcome;
  const DumpFacts run = facts(writer);
  Json manifest = make_manifest(run);
  while (!hash_.wait(kHashPoll) && !interrupt_.requested()) continue;
  outcome.directory = lock_.where(directory_);
  if (outcome.directory != directory_)
    spdlog::warn("{}: was moved; the dump goes on in {}", directory_, outcome.directory);
  const bool live = run.session.info.live;  // has no end but the one it is given
  outcome.kind = interrupt_.requested() ? live ? DumpOutcome::Kind::kStopped : DumpOutcome::Kind::kInterrupted
                                        : DumpOutcome::Kind::kComplete;
  if (outcome.kind == DumpOutcome::Kind::kInterrupted) {
    manifest["complete"] = false;
  } else {
    if (hash_came_late_ && !hash_.now().sha256.empty()) {
      write_json(outcome.directory + "/meta.json",
                 make_meta(options_, hash_.now(), run.session.info, session_.pipeline()));
    }
    write_json(outcome.directory + "/manifest.json", manifest);
    if (run.session.damaged() && outcome.kind == DumpOutcome::Kind::kComplete)
      outcome.kind = DumpOutcome::Kind::kDamaged;
    outcome.damage = damage_summary(run.session);
  }
  manifest["path"] = outcome.directory;
  manifest["patches"] = run.session.patches;
  outcome.result = std::move(manifest);
  return outcome;
}

}  // namespace

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
  Session session(dump_config(options, uri));
  interrupt.set_opening({});
  return DumpRun(options, directory, hash, session, interrupt, lock).run();
}

}  // namespace saccade
