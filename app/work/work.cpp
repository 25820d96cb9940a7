// saccade work: does a plan, beside others that do the same.
#include <fmt/format.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "app/commands.h"
#include "app/options/hint_flags.h"
#include "app/process/cores.h"
#include "app/process/exit_code.h"
#include "app/process/stop_signal.h"
#include "app/work/plan/make_plan.h"
#include "app/work/run/supervisor.h"
#include "pipeline/error.h"

namespace saccade {
namespace {

constexpr int kFewestCommitters = 2, kMostCommitters = 8;
constexpr int kCoresACommitter = 4;

// Another thread makes it readable.
class Wake {
 public:
  Wake() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  ~Wake() { close(fd_); }
  Wake(const Wake&) = delete;
  Wake& operator=(const Wake&) = delete;
  int fd() const { return fd_; }
  void operator()() const { eventfd_write(fd_, 1); }

 private:
  const int fd_;
};

int report(const Options& options, const Plan& plan, const Counts& counts, const std::optional<WorkStop>& stop) {
  const std::string& place = plan.store().place();
  if (stop) {
    const bool interrupted = stop->exit == static_cast<int>(ExitCode::kInterrupted);
    fmt::print(stderr, "saccade: {}: {}{}\n", place, interrupted ? "interrupted" : "stopped: " + stop->line,
               stop->goes_on ? "; the same command goes on where it was left" : "");
    return stop->exit;
  }
  if (options.json) {
    fmt::print("{}\n", json_text(counts_json(counts), -1));
  } else {
    fmt::print("{}: {}\n", place, counts_line(counts));
  }
  return static_cast<int>(counts.damaged + counts.quarantined > 0 ? ExitCode::kPartial : ExitCode::kOk);
}

// The markers of a store when work begins.
struct SoFar {
  StoreCounts counts;
  std::set<std::string> units;
  std::vector<EndedUnit> ended;
};

SoFar so_far(const Plan& plan) {
  SoFar found;
  found.counts = count_markers(plan, [&found](const PlannedUnit& unit, const Json& marker) {
    found.units.insert(unit.name);
    found.ended.push_back(ended_unit(marker));
  });
  if (!found.counts.faults.empty())
    throw UsageError(fmt::format("{}: {}", plan.store().place(), found.counts.faults.front()));
  sort_by_age(found.ended);
  return found;
}

int work_on(const Options& options, const Plan& plan) {
  Store& store = plan.store();
  plan.check_version();
  plan.check_content();
  const Wake signalled, done;
  const StopSignal signal([&signalled] { signalled(); });
  const SoFar before = so_far(plan);
  Tally tally(options, before.counts.counts);
  sweep_workers(store);
  std::optional<WorkStop> stop;
  Counts counts = before.counts.counts;
  if (before.units.size() < plan.units().size()) {
    const Attempt attempt(store.scratch_root());
    store.use_scratch(attempt.path());
    const int cores = options.work.cores.value_or(usable_cores());
    const int committers = std::clamp(cores / kCoresACommitter, kFewestCommitters, kMostCommitters);
    Units units(options, plan, attempt, before.counts, before.units, committers, [&done] { done(); });
    const Ended ended(options.work.max_bad_percent, before.ended);
    stop = Supervisor(options, plan, attempt, units, ended, tally, signalled.fd(), done.fd()).run();
    counts = units.counts();
  }
  if (!stop) remove_claims(store);
  tally.finish(counts);
  return report(options, plan, counts, stop);
}

}  // namespace

int run_work(const Options& options) {
  const auto store = open_store(options.work.store);
  return work_on(options, Plan(*store));
}

int dump_manifest(const Options& options) {
  const auto store = open_store(options.dump.output);
  const PlanOutcome outcome = make_plan(options, *store);
  return work_on(options, outcome.plan);
}

}  // namespace saccade
