#include "app/dump/dump_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <utility>
#include <vector>

#include "app/dump/leave_if_stuck.h"
#include "app/options/hint_flags.h"
#include "app/process/exit_code.h"
#include "pipeline/error.h"
#include "pipeline/options/resolve.h"
#include "pipeline/secrets.h"

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
SessionConfig dump_config(const Options& options, const std::string& uri, const std::function<void()>& on_ready,
                          KeptTextures* kept) {
  SessionConfig config = session_config(options, uri);
  config.frames_ahead = kFramesAhead;
  config.on_ready = on_ready;
  config.pipeline.wait_for_patches = false;
  config.pipeline.kept = kept;
  return config;
}

Options over_again(const Options& options, const std::string& uri) {
  spdlog::debug("{}: is damaged, and decoded over again", masked_uri(uri));
  Options again = options;
  again.dump.overwrite = true;
  again.dump.resume = false;
  again.source.new_decoders = true;
  const bool by_device = again.source.hwdec != HwDecode::kNo;
  if (by_device && again.source.require_hwdec) return again;
  again.source.threads = 1;
  if (by_device) {
    again.source.hwdec = HwDecode::kNo;
    again.source.why_no_hwdec = "it is damaged, and what a GPU makes of damage depends on what its memory held before";
  }
  return again;
}

}  // namespace

DumpRun::DumpRun(const Options& options, const std::string& uri, const std::string& directory, RunInterrupt& interrupt,
                 const std::function<void()>& on_ready, KeptTextures* kept, const std::function<void(bool)>& on_writing)
    : options_(options),
      uri_(uri),
      directory_(directory),
      interrupt_(interrupt),
      on_ready_(on_ready),
      kept_(kept),
      on_writing_(on_writing),
      hash_(uri, options.dump.hash_input),
      begin_(Clock::now()) {
  {
    const WaitsForDisk waits(on_writing_);
    lock_.take(directory);
  }
  const InputIdentity& identity = options.dump.resume ? hash_.finish() : hash_.now();
  skipped_ = decide_target(directory, options.dump, meta_identity(options, identity)) == TargetAction::kSkip;
  if (skipped_) return;
  open();
  begin_ = Clock::now();
}

void DumpRun::open() {
  session_ = std::make_unique<Session>(dump_config(options_, uri_, on_ready_, kept_));
  scope_.emplace(interrupt_, *session_);
}

DumpRun::~DumpRun() = default;

void DumpRun::end_reading() {
  if (session_ == nullptr) return;
  give_up();
  if (writer_) writer_->finish();  // what could not be written is told
  first_reading_.emplace();
  first_reading_->kind = DumpOutcome::Kind::kInterrupted;
  first_reading_->directory = directory_ = lock_.where(directory_);
  Json& result = first_reading_->result = make_manifest(facts());
  result["complete"] = false;
  result["path"] = directory_;
  result["patches"] = session_->facts().patches;
  progress_->start_over(progress_state());
  slot_ = nullptr;
  writer_.reset();
  views_.reset();
  emissions_.reset();
  scope_.reset();
  session_.reset();
}

void DumpRun::start_over() {
  end_reading();
  options_ = over_again(options_, uri_);
  cut_short_ = interrupt_.requested();
  if (cut_short_) return;
  try {
    open();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kInterrupted) throw;
    cut_short_ = true;
  }
}

bool DumpRun::ready() const { return cut_short_ || session_->feed().ready_within(std::chrono::nanoseconds(0)); }

std::int64_t DumpRun::frames() const { return session_ ? session_->pipeline().counters().frames : 0; }

std::string DumpRun::written() const {
  return interrupted_text(lock_.where(directory_), session_->pipeline().counters().emissions);
}

void DumpRun::begin() {
  if (cut_short_) return;
  try {
    session_->start();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kInterrupted) throw;
    cut_short_ = first_reading_.has_value();
    if (cut_short_) return;
    throw Error(ErrorKind::kInterrupted, fmt::format("{}; nothing was written", error.what()));
  }
  say_what_runs();
  const Pipeline& pipeline = session_->pipeline();
  const StreamInfo& info = session_->info();
  const PyramidLayout& layout = pipeline.texture().layout();
  const DumpShape shape{static_cast<std::int64_t>(pipeline.lattice().patch_count()),
                        options_.pipeline.lattice.patch_size,
                        options_.pipeline.samples.type,
                        layout.width_px,
                        layout.height_px,
                        info.live,
                        info.has_pointer,
                        options_.dump.compact.value_or(false)};
  emissions_.emplace(make_slots(*session_), on_ready_);  // all memory is there before an old dump goes
  const WaitsForDisk waits(on_writing_);
  prepare_target(directory_, options_.dump, lock_);
  hash_came_late_ = hash_.now().sha256.empty();
  write_json(directory_ + "/meta.json", make_meta(options_, hash_.now(), info, pipeline));
  writer_.emplace(
      std::make_unique<DumpFiles>(directory_, shape), *emissions_, [this] { session_->interrupt(); }, on_writing_);
  if (options_.views) views_.emplace(directory_, *options_.views);
  if (!progress_) progress_.emplace(options_, uri_, info);
}

void DumpRun::say_what_runs() const {
  const StreamInfo& info = session_->info();
  const PipelineConfig& config = session_->pipeline().config();
  spdlog::info("{}: {} {}x{}, decoder {}, backend {}, {}", info.uri, info.codec, info.width_px, info.height_px,
               decoder_text(info), name(config.backend), session_->pipeline().lattice().describe());
  if (info.container == "screen") spdlog::info("{}: {}", info.uri, fmt::join(info.notes, "; "));
  if (const int threshold = config.diff.threshold; threshold != options_.pipeline.diff.threshold) {
    spdlog::info("{}: threshold {}, for a live source; --threshold 0 keeps every difference", info.uri, threshold);
  }
  if (!options_.backend_reason.empty()) spdlog::debug("backend {}: {}", name(config.backend), options_.backend_reason);
}

DumpRun::Step DumpRun::step(bool may_wait) {
  if (cut_short_) return Step::kEnded;
  if (slot_ == nullptr) slot_ = may_wait ? emissions_->acquire() : emissions_->try_acquire();
  if (slot_ == nullptr) return may_wait || writer_->failed() ? Step::kEnded : Step::kNothing;
  const SessionStatus status = (may_wait ? session_->next(*slot_) : session_->poll(*slot_)).status;
  if (status == SessionStatus::kLater) return Step::kNothing;
  if (status != SessionStatus::kEmission && status != SessionStatus::kFrame) return Step::kEnded;
  if (status == SessionStatus::kEmission) {
    if (views_) views_->append(*session_, session_->pipeline().counters().emissions - 1, *slot_);
    emissions_->submit(std::exchange(slot_, nullptr));
  }
  if (progress_->due()) progress_->update(progress_state());
  return Step::kWorked;
}

void DumpRun::give_up() {
  if (!writer_) return;
  emissions_->finish();
  writer_->drain();
}

DumpOutcome DumpRun::finish() {
  if (skipped()) return skipped_outcome();
  if (cut_short_) {
    if (progress_) progress_->finish({});  // the first reading's counts
    return *first_reading_;
  }
  if (!writer_->failed()) progress_->finish(progress_state());
  progress_.reset();
  emissions_->finish();
  stop_all();
  return outcome();
}

bool DumpRun::ends_by_chance() const {
  if (skipped() || first_reading_ || writer_->failed() || interrupt_.requested() || !can_be_read_again(uri_))
    return false;
  const SessionFacts facts = session_->facts();
  if (facts.info.live || facts.end.lost) return false;
  const bool on_device = facts.info.hwdec != HwDecode::kNo;
  if (on_device && options_.source.require_hwdec) return facts.may_show_another();
  return facts.mended() && (on_device || facts.source.several_threads);
}

// The arrays first, then the decoder: what was sampled is on disk before anything waits for the source.
void DumpRun::stop_all() {
  try {
    writer_->finish();
  } catch (const Error& error) {
    const LeaveIfStuck leave(error_text(error), exit_code(error.kind()));
    session_->stop();
    throw;
  }
  std::optional<LeaveIfStuck> leave;
  if (interrupt_.requested()) {
    leave.emplace(interrupted_text(directory_, session_->pipeline().counters().emissions), ExitCode::kInterrupted);
  }
  session_->stop();
  const Feed& feed = session_->feed();
  if (feed.failed() && !interrupt_.requested() && is_of_machine(feed.fault().kind)) {
    throw_fault(feed.fault());  // no manifest: the input may have more
  }
}

ProgressState DumpRun::progress_state() const {
  const PipelineCounters& totals = session_->pipeline().counters();
  const QueueCounters queue = session_->feed().queue_counters();
  return {totals.frames,        totals.emissions, queue.dropped_stale + queue.dropped_closed,
          totals.damaged_tiles, totals.tiles,     static_cast<double>(session_->media_ns()) * 1e-9};
}

DumpResult DumpRun::facts() const {
  DumpResult facts;
  facts.session = session_->facts();
  facts.session.pipeline.patches_changed = writer_->files().patches_changed();  // after settle()
  facts.write_times = writer_->times();
  facts.bytes_written = writer_->files().bytes_written();
  facts.wall_s = std::chrono::duration<double>(Clock::now() - begin_).count();
  return facts;
}

DumpOutcome DumpRun::skipped_outcome() const {
  DumpOutcome outcome;
  outcome.kind = DumpOutcome::Kind::kSkipped;
  outcome.directory = directory_;
  outcome.result = read_json(directory_ + "/manifest.json");
  outcome.result["path"] = directory_;
  outcome.result["skipped"] = true;
  return outcome;
}

DumpOutcome DumpRun::outcome() {
  DumpOutcome outcome;
  const DumpResult run = facts();
  Json manifest = make_manifest(run);
  if (views_) manifest["views"] = {{"count", views_->count()}, {"tokens", views_->tokens()}};
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
    const WaitsForDisk waits(on_writing_);
    if (hash_came_late_ && !hash_.now().sha256.empty()) {
      write_json(outcome.directory + "/meta.json",
                 make_meta(options_, hash_.now(), run.session.info, session_->pipeline()));
    }
    write_json(outcome.directory + "/manifest.json", manifest);
    if (run.session.damaged() && outcome.kind == DumpOutcome::Kind::kComplete)
      outcome.kind = DumpOutcome::Kind::kDamaged;
    outcome.damage = damage_summary(run.session);
    outcome.fault = run.session.fault;
    outcome.lost = run.session.end.lost;
  }
  manifest["path"] = outcome.directory;
  manifest["patches"] = run.session.patches;
  outcome.result = std::move(manifest);
  return outcome;
}

std::string interrupted_text(const std::string& directory, std::int64_t emissions) {
  return fmt::format("interrupted; {} holds the first {} emissions, without a manifest", directory, emissions);
}

namespace {

void read_to_its_end(DumpRun& run) {
  run.begin();
  try {
    while (run.step(true) != DumpRun::Step::kEnded) continue;
  } catch (...) {
    run.give_up();
    throw;
  }
}

}  // namespace

DumpOutcome dump_input(const Options& options, const std::string& uri, const std::string& directory,
                       RunInterrupt& interrupt) {
  interrupt.set_opening(uri);
  DumpRun run(options, uri, directory, interrupt);
  interrupt.set_opening({});
  if (run.skipped()) return run.finish();
  read_to_its_end(run);
  if (run.ends_by_chance()) {
    interrupt.set_opening(uri, run.written());
    run.start_over();
    interrupt.set_opening({});
    read_to_its_end(run);
  }
  return run.finish();
}

}  // namespace saccade
