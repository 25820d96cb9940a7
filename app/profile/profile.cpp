// saccade profile: the dump's path without its writer, timed stage by stage against a frame budget.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/commands.h"
#include "app/info/info_machine.h"
#include "app/options/hint_flags.h"
#include "app/options/options.h"
#include "app/process/exit_code.h"
#include "app/process/run_interrupt.h"
#include "app/process/stop_signal.h"
#include "app/profile/profile_report.h"
#include "pipeline/clock.h"
#include "pipeline/error.h"
#include "pipeline/options/resolve.h"
#include "pipeline/run/session.h"
#include "pipeline/run/trace.h"
#include "pipeline/source/open.h"

namespace saccade {
namespace {

constexpr std::size_t kFramesAhead = 8;
constexpr double kUsualBudget_ms = 33.3;

void check_options(const Options& options) {
  if (options.inputs.size() != 1) throw UsageError("profile takes one INPUT; run it once for each");
}

SessionConfig profile_config(const Options& options) {
  SessionConfig config = session_config(options, options.inputs.front());
  config.frames_ahead = kFramesAhead;
  config.pipeline.measure_device = true;
  return config;
}

// Runs a session to its end and takes note of each frame.
class ProfileLoop {
 public:
  ProfileLoop(Session& session, TraceWriter* trace, ProfileReport& report)
      : session_(session), trace_(trace), report_(report) {}

  void run() {
    Emission emission;
    const std::int64_t begin_ns = steady_now_ns();
    note_depth();
    session_.start();
    for (;;) {
      const SessionStep step = session_.next(emission);
      if (step.status != SessionStatus::kEmission && step.status != SessionStatus::kFrame) break;
      note(step);
      note_depth();
    }
    report_.wall_s = static_cast<double>(steady_now_ns() - begin_ns) * 1e-9;
  }

 private:
  std::size_t depth() const { return session_.feed().depth(); }
  void note_depth() { report_.queue_depth.record(static_cast<std::int64_t>(depth())); }

  void note(const SessionStep& step) {
    const Damage& damage = session_.pipeline().damage();
    damage.rects(rectangles_);
    report_.rectangles.record(static_cast<std::int64_t>(rectangles_.size()));
    report_.damage_share.record(damage.share());
    if (trace_ == nullptr) return;
    const std::int64_t at_ns = steady_now_ns();
    trace_->counter("damaged tiles", at_ns, step.result.damaged_tiles);
    trace_->counter("bytes uploaded", at_ns, static_cast<double>(step.result.bytes_uploaded));
    trace_->counter("frames waiting", at_ns, static_cast<double>(depth()));
  }

  Session& session_;
  TraceWriter* trace_;
  ProfileReport& report_;
  std::vector<TileRect> rectangles_;
};

ExitCode verdict(const ProfileReport& report, const ProfileOptions& options) {
  if (report.interrupted) return ExitCode::kInterrupted;
  ExitCode code = ExitCode::kOk;
  if (const Fault& fault = report.run.fault; !fault.what.empty()) {
    spdlog::warn("{}", error_text(fault));
    code = is_of_machine(fault.kind) ? exit_code(fault.kind) : ExitCode::kPartial;
  } else if (report.run.damaged()) {
    spdlog::warn("{}: the input is damaged; what decoded was profiled", report.run.info.uri);
    code = ExitCode::kPartial;
  }
  if (options.budget_ms && report.over_budget()) {
    fmt::print(stderr, "saccade: {}: the p99 of frame, {:.3f} ms, is over the budget of {:g} ms\n", report.run.info.uri,
               report.frame_p99_ms(), report.budget_ms);
    if (code == ExitCode::kOk) code = ExitCode::kPartial;
  }
  return code;
}

}  // namespace

int run_profile(const Options& options) {
  check_options(options);
  RunInterrupt interrupt;
  const StopSignal stop([&interrupt] { interrupt.interrupt(); });
  SessionConfig config = profile_config(options);
  interrupt.set_opening(config.source.uri);
  auto source = open_source(config.source);
  interrupt.set_opening({});
  std::unique_ptr<TraceWriter> trace;  // its file is made once there is something to trace
  if (!options.profile.trace.empty()) trace = std::make_unique<TraceWriter>(options.profile.trace);
  config.trace = trace.get();
  Session session(config, std::move(source));
  const RunInterrupt::Scope scope(interrupt, session);

  ProfileReport report;
  report.budget_ms = options.profile.budget_ms.value_or(kUsualBudget_ms);
  try {
    ProfileLoop(session, trace.get(), report).run();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kInterrupted) return static_cast<int>(ExitCode::kInterrupted);
    throw;
  }
  session.stop();
  if (trace) trace->close();
  report.interrupted = stop.requested();
  report.run = session.facts();
  report.peak_resident_bytes = peak_resident_bytes();
  const std::string text = options.json ? to_json(report) : to_text(report);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return static_cast<int>(verdict(report, options.profile));
}

}  // namespace saccade
