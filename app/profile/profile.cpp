// saccade profile: the dump's path without its writer, timed stage by stage against a frame budget.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/commands.h"
#include "app/dump/dump_run.h"
#include "app/exit_code.h"
#include "app/info/info_machine.h"
#include "app/options/checks.h"
#include "app/options/hint_flags.h"
#include "app/options/options.h"
#include "app/profile/profile_report.h"
#include "app/run_interrupt.h"
#include "app/stop_signal.h"
#include "pipeline/error.h"
#include "pipeline/run/decode_thread.h"
#include "pipeline/run/trace.h"
#include "pipeline/source/open.h"

namespace saccade {
namespace {

constexpr std::size_t kQueueFrames = 8;
constexpr int kTraceThread = 1;  // the pipeline's, which runs on this thread

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void check_options(const Options& options) {
  if (options.inputs.size() != 1) throw UsageError("profile takes one INPUT; run it once for each");
  if (!(options.profile.budget_ms > 0) || !std::isfinite(options.profile.budget_ms)) {
    throw UsageError(fmt::format("--budget-ms {}: the budget must be above 0", options.profile.budget_ms));
  }
}

// Runs frames through the pipeline on the caller's thread until the queue is drained or closed.
class ProfileLoop {
 public:
  ProfileLoop(FrameSource& source, FrameQueue& queue, Pipeline& pipeline, TraceWriter* trace, ProfileReport& report)
      : uri_(source.info().uri), source_(source), queue_(queue), pipeline_(pipeline), trace_(trace), report_(report) {}

  void run() {
    Frame frame;
    const std::int64_t begin_ns = now_ns();
    while (pop(frame)) {
      step(frame);
      source_.recycle(std::move(frame));
    }
    report_.wall_s = static_cast<double>(now_ns() - begin_ns) * 1e-9;
  }

 private:
  bool pop(Frame& frame) {
    report_.queue_depth.record(static_cast<std::int64_t>(queue_.size()));
    const std::int64_t begin_ns = now_ns();
    if (!queue_.pop(frame)) return false;
    const std::int64_t end_ns = now_ns();
    report_.stage(Stage::kWait).record(end_ns - begin_ns);
    if (trace_ != nullptr) trace_->complete(name(Stage::kWait), kTraceThread, begin_ns, end_ns, frame.view().sequence);
    return true;
  }

  void step(const Frame& frame) {
    const FrameView& view = frame.view();
    if (pipeline_.counters().frames == 0) {
      first_pts_ns_ = view.pts_ns;
      prepare_for(uri_, pipeline_, view);
    }
    if (report_.live.begins_after_gap(frame.origin())) pipeline_.reset();
    const StepResult result = pipeline_.step(view, emission_);
    report_.live.note_done(frame.origin());
    const Damage& damage = pipeline_.damage();
    damage.rects(rectangles_);
    report_.rectangles.record(static_cast<std::int64_t>(rectangles_.size()));
    report_.damage_share.record(damage.share());
    report_.media_s = static_cast<double>(view.pts_ns - first_pts_ns_) * 1e-9;
    if (trace_ != nullptr) {
      const std::int64_t at_ns = now_ns();
      trace_->counter("damaged tiles", at_ns, result.damaged_tiles);
      trace_->counter("bytes uploaded", at_ns, static_cast<double>(result.bytes_uploaded));
      trace_->counter("frames waiting", at_ns, static_cast<double>(queue_.size()));
    }
  }

  const std::string uri_;
  FrameSource& source_;
  FrameQueue& queue_;
  Pipeline& pipeline_;
  TraceWriter* trace_;
  ProfileReport& report_;
  Emission emission_;
  std::vector<TileRect> rectangles_;
  std::int64_t first_pts_ns_ = 0;
};

void collect(const FrameSource& source, const FrameQueue& queue, const DecodeThread& decode, const Pipeline& pipeline,
             ProfileReport& report) {
  report.stream = source.info();
  report.backend = name(pipeline.config().backend);
  report.stage(Stage::kDecode) = decode.times();
  report.shown_stages = {Stage::kDecode, Stage::kWait};
  for (const Stage stage : pipeline.stages()) {
    report.shown_stages.push_back(stage);
    report.stage(stage) = pipeline.stage(stage);
  }
  for (std::size_t work = 0; work < report.device.size(); ++work) {
    report.device[work] = pipeline.device_times(static_cast<DeviceTime::Work>(work));
  }
  report.counters = pipeline.counters();
  report.patches_per_emission = static_cast<std::int64_t>(pipeline.lattice().patch_count());
  report.queue_capacity = queue.capacity();
  report.queue = queue.counters();
  report.source = source.counters();
  report.end = source.end();
  report.peak_resident_bytes = peak_resident_bytes();
}

// `failed`: null, or what the source could not deliver all of.
ExitCode verdict(const ProfileReport& report, const ProfileOptions& options, const FrameSource* failed) {
  if (report.interrupted) return ExitCode::kInterrupted;
  ExitCode code = ExitCode::kOk;
  const bool damaged = report.source.packets_corrupt + report.source.frames_corrupt > 0 || report.source.truncated;
  if (failed != nullptr) {
    spdlog::warn("{}", error_text(failed->fault()));
    code = failed->fault().kind == ErrorKind::kUnavailable ? ExitCode::kUnavailable : ExitCode::kPartial;
  } else if (damaged) {
    spdlog::warn("{}: the input is damaged; what decoded was profiled", report.stream.uri);
    code = ExitCode::kPartial;
  }
  if (options.check && report.over_budget()) {
    fmt::print(stderr, "saccade: {}: the p99 of frame, {:.3f} ms, is over the budget of {:g} ms\n", report.stream.uri,
               report.frame_p99_ms(), report.budget_ms);
    if (code == ExitCode::kOk) code = ExitCode::kPartial;
  }
  return code;
}

}  // namespace

int run_profile(const Options& options) {
  check_options(options);
  SourceConfig config = options.source;
  config.uri = options.inputs.front();
  RunInterrupt interrupt;
  const StopSignal stop([&interrupt] { interrupt.interrupt(); });
  interrupt.set_opening(config.uri);
  const auto source = open_source(config);
  interrupt.set_opening({});
  const QueuePolicy policy = policy_in_force(options.queue_policy, source->info().live);
  FrameQueue queue(capacity_for(policy, kQueueFrames), policy);
  PipelineConfig in_force = pipeline_in_force(options, source->info().live);
  in_force.measure_device = true;
  Pipeline pipeline(std::move(in_force));
  std::unique_ptr<TraceWriter> trace;
  if (!options.profile.trace.empty()) trace = std::make_unique<TraceWriter>(options.profile.trace);
  if (trace) trace->name_thread(kTraceThread, "pipeline");
  pipeline.set_trace(trace.get());
  const RunInterrupt::Scope scope(interrupt, *source, queue);

  ProfileReport report;
  report.budget_ms = options.profile.budget_ms;
  report.policy = name(policy);
  DecodeThread decode(*source, queue, trace.get());
  ProfileLoop(*source, queue, pipeline, trace.get(), report).run();
  decode.join();
  if (trace) trace->close();
  report.interrupted = stop.requested();
  if (pipeline.counters().frames == 0) {
    if (report.interrupted) return static_cast<int>(ExitCode::kInterrupted);
    if (decode.failed()) throw_fault(source->fault());
    throw InputError(fmt::format("{}: no frame to profile; see --start and --duration", config.uri));
  }
  collect(*source, queue, decode, pipeline, report);
  const std::string text = options.json ? to_json(report) : to_text(report);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return static_cast<int>(verdict(report, options.profile, decode.failed() ? source.get() : nullptr));
}

}  // namespace saccade
