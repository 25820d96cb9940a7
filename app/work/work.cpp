// saccade work: does a plan, or a share of it, on this machine.
#include <fmt/format.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
#include <set>
#include <thread>

#include "app/commands.h"
#include "app/exit_code.h"
#include "app/options/hint_flags.h"
#include "app/stop_signal.h"
#include "app/work/judge/ended.h"
#include "app/work/markers.h"
#include "app/work/plan/make_plan.h"
#include "app/work/share.h"
#include "app/work/store/marker_file.h"
#include "app/work/supervisor.h"
#include "pipeline/error.h"

namespace saccade {
namespace {

// Readable once a signal came, or stdin ended where that is asked for.
class Wake {
 public:
  explicit Wake(bool until_eof)
      : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), signal_([fd = fd_] { eventfd_write(fd, 1); }) {
    if (until_eof) std::thread([fd = fd_] { wait_for_eof(fd); }).detach();
  }
  ~Wake() = default;  // the file stays: the thread may still write to it
  Wake(const Wake&) = delete;
  Wake& operator=(const Wake&) = delete;
  int fd() const { return fd_; }

 private:
  static void wait_for_eof(int fd) {
    std::array<char, 4096> ignored;
    for (;;) {
      const ssize_t got = read(STDIN_FILENO, ignored.data(), ignored.size());
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
    }
    eventfd_write(fd, 1);
  }
  const int fd_;
  const StopSignal signal_;
};

std::vector<const PlannedUnit*> units_for(const Options& options, const Plan& plan) {
  std::vector<const PlannedUnit*> units;
  if (!options.work.unit.empty()) {
    const PlannedUnit* unit = plan.find(options.work.unit);
    if (unit == nullptr) {
      throw UsageError(OfOption("unit", options.work.unit),
                       fmt::format("the plan has no such unit; they are {} to {}", unit_name(0),
                                   unit_name(static_cast<std::int64_t>(plan.units().size()) - 1)));
    }
    return {unit};
  }
  const Share share = share_of(options.work.shard);
  for (std::size_t i = 0; i < plan.units().size(); ++i) {
    if (share.has(static_cast<std::int64_t>(i))) units.push_back(&plan.units()[i]);
  }
  return units;
}

struct SoFar {
  Counts counts;                 // of this call's units
  std::vector<EndedUnit> ended;  // of the store, the oldest one first: is judged beside what ends in this run
};

// Who places single units judges them by itself; and where all videos may be bad, nothing is judged by them.
bool is_judged(const Options& options) { return options.work.unit.empty() && options.work.max_bad_percent < 100; }

// What the markers say so far; the units that have none are left in `units`.
SoFar so_far(const Options& options, const Plan& plan, const std::string& store,
             std::vector<const PlannedUnit*>& units) {
  SoFar found;
  Counts& counts = found.counts;
  const std::vector<std::string> committed = committed_units(store);
  std::vector<const PlannedUnit*> left;
  for (const PlannedUnit* unit : units) {
    counts.in += unit->items;
    counts.planned_s += unit->media_s;
    counts.pending += unit->items;
    std::optional<Json> marker;
    if (std::binary_search(committed.begin(), committed.end(), unit->name)) marker = sound_marker(plan, store, *unit);
    if (marker) {
      add_marker(counts, *unit, *marker);
      found.ended.push_back(ended_unit(*marker));
    } else {
      left.push_back(unit);
    }
  }
  const std::set<const PlannedUnit*> own(units.begin(), units.end());
  for (const std::string& name : is_judged(options) ? committed : std::vector<std::string>{}) {
    const PlannedUnit* unit = plan.find(name);
    if (unit == nullptr || own.count(unit) != 0) continue;
    if (const auto marker = sound_marker(plan, store, *unit)) found.ended.push_back(ended_unit(*marker));
  }
  sort_by_age(found.ended);
  if (!is_judged(options)) found.ended.clear();
  units = std::move(left);
  return found;
}

// Who works on the same units at the same time is to meet this process late.
void begin_elsewhere(std::vector<const PlannedUnit*>& units, const std::string& name) {
  const std::size_t at = std::hash<std::string>{}(name) % units.size();
  std::rotate(units.begin(), units.begin() + static_cast<std::ptrdiff_t>(at), units.end());
}

int report(const Options& options, const std::string& target, const Counts& counts,
           const std::optional<WorkStop>& stop) {
  if (stop) {
    const bool interrupted = stop->exit == static_cast<int>(ExitCode::kInterrupted);
    const bool again = stop->exit == static_cast<int>(ExitCode::kUsage) && stop->by_options;
    std::string way = stop->goes_on ? "; the same command goes on where it was left" : "";
    if (again) {
      way = fmt::format(
          "; plan again with other options, into another store, or, where some videos take them, do a unit of these "
          "first: {}--unit U",
          options.command == Command::kDump ? fmt::format("`saccade work {}` with ", target) : "");
    }
    fmt::print(stderr, "saccade: {}: {}{}\n", target, interrupted ? "interrupted" : "stopped: " + stop->line, way);
    return stop->exit;
  }
  if (options.json) {
    fmt::print("{}\n", json_text(counts_json(counts), -1));
  } else {
    fmt::print("{}: {}\n", target, counts_line(counts));
  }
  return static_cast<int>(counts.damaged + counts.quarantined > 0 ? ExitCode::kPartial : ExitCode::kOk);
}

// A plan for one unit may be a small copy, or so large that whoever places units checks it once for all of them.
void check(const Options& options, const Plan& plan) {
  constexpr std::uint64_t kChecked_bytes = std::uint64_t{16} << 20;
  plan.check_version();
  if (!options.work.staging.empty()) return;
  const bool large = !plan.units().empty() && plan.units().back().offset > kChecked_bytes;
  if (options.work.unit.empty() || !large) plan.check_content();
}

int work_on(const Options& options, const Plan& plan, const std::string& target) {
  check(options, plan);
  std::vector<const PlannedUnit*> units = units_for(options, plan);
  const Wake wake(options.work.until_eof);
  const SoFar before = so_far(options, plan, target, units);
  Tally tally(options, before.counts);
  std::optional<WorkStop> stop;
  sweep_attempts(target);
  if (!units.empty()) {
    const Attempt attempt(target);
    if (!attempt.is_alone()) begin_elsewhere(units, attempt.name());
    stop = Supervisor(options, plan, std::move(units), before.ended, target, attempt, tally, wake.fd()).run();
  }
  tally.finish();
  return report(options, target, tally.counts(), stop);
}

}  // namespace

int run_work(const Options& options) {
  const Plan plan(options.work.store);
  return work_on(options, plan, options.work.staging.empty() ? options.work.store : options.work.staging);
}

int dump_manifest(const Options& options) {
  const PlanOutcome outcome = make_plan(options, options.dump.output);
  return work_on(options, outcome.plan, options.dump.output);
}

}  // namespace saccade
