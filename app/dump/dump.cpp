// saccade dump: every input into its folder, a line for each, one exit code.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <set>
#include <vector>

#include "app/commands.h"
#include "app/dump/dump_many.h"
#include "app/dump/dump_run.h"
#include "app/dump/kept.h"
#include "app/files/input_identity.h"
#include "app/options/hint_flags.h"
#include "app/options/options.h"
#include "app/process/cores.h"
#include "app/process/exit_code.h"
#include "app/process/stop_signal.h"
#include "gpu/device_error.h"
#include "pipeline/error.h"
#include "pipeline/secrets.h"

namespace saccade {
namespace {

// One input: the folder itself. Several: a folder each below it, by the inputs' names, "-2" and so on where they meet.
std::vector<DumpTarget> make_targets(const Options& options) {
  if (options.inputs.size() == 1) return {{options.inputs[0], options.dump.output}};
  std::vector<DumpTarget> targets;
  std::set<std::string> taken;
  for (const auto& uri : options.inputs) {
    const std::string wanted = folder_name(uri);
    std::string unique = wanted;
    for (int n = 2; !taken.insert(unique).second; ++n) unique = fmt::format("{}-{}", wanted, n);
    targets.push_back({uri, options.dump.output + "/" + unique});
  }
  return targets;
}

void print_result(const Options& options, const DumpTarget& target, const DumpOutcome& outcome) {
  const Json& r = outcome.result;
  if (options.json) {
    fmt::print("{}\n", json_text(r, -1));
    return;
  }
  if (outcome.kind == DumpOutcome::Kind::kSkipped) {
    fmt::print("{}: already complete: {} emissions of {}\n", outcome.directory, r.value("emissions", 0LL),
               masked_uri(target.uri));
    return;
  }
  const Json drops = r.value("drops", Json::object());
  std::int64_t dropped = 0;
  for (const auto& cause : drops.items())
    dropped += cause.value().is_number_integer() ? cause.value().get<std::int64_t>() : 0;
  std::string left_out = dropped > 0 ? fmt::format("; {} dropped", dropped) : "";
  const Json live = r.value("live", Json::object());
  if (const auto late = live.value("packets_late", std::int64_t{0}); late > 0) {
    left_out += fmt::format("; {} packet{} ({:.1f} s) left out to catch up", late, late == 1 ? "" : "s",
                            live.value("late_s", 0.0));
  }
  fmt::print(
      "{}: {} emissions x {} patches of {}x{} {}, {} new, from {} frames ({:.0f} frames/s, {:.1f} % of the tiles "
      "changed{})\n",
      outcome.directory, r["emissions"].get<std::int64_t>(), r["patches"].get<std::int64_t>(),
      options.pipeline.lattice.patch_size, options.pipeline.lattice.patch_size, name(options.pipeline.samples.type),
      r["patches_changed"].get<std::int64_t>(), r["frames"].get<std::int64_t>(), r["frames_per_s"].get<double>(),
      100 * r["damage_share"].get<double>(), left_out);
}

// Says on stderr what is not as it should be. Returns the exit code of this outcome.
ExitCode report(const DumpTarget& target, const DumpOutcome& outcome) {
  switch (outcome.kind) {
    case DumpOutcome::Kind::kDamaged:
      if (outcome.lost) {
        fmt::print(stderr, "saccade: {}; what came before was kept\n", error_text(outcome.fault));
        return ExitCode::kPartial;
      }
      fmt::print(stderr, "saccade: {}: the input is damaged ({}); what decodes was kept\n", masked_uri(target.uri),
                 outcome.damage);
      return ExitCode::kPartial;
    case DumpOutcome::Kind::kInterrupted:
      fmt::print(stderr, "saccade: {}\n",
                 interrupted_text(outcome.directory, outcome.result["emissions"].get<std::int64_t>()));
      return ExitCode::kInterrupted;
    case DumpOutcome::Kind::kStopped:
      fmt::print(stderr, "saccade: stopped; {} is complete up to here\n", outcome.directory);
      return ExitCode::kInterrupted;
    case DumpOutcome::Kind::kSkipped:
      if (!outcome.result.value("input_damaged", false)) break;
      fmt::print(stderr, "saccade: {}: the input is damaged; what decodes was kept\n", masked_uri(target.uri));
      return ExitCode::kPartial;
    case DumpOutcome::Kind::kComplete:
      break;
  }
  return ExitCode::kOk;
}

// What becomes of a run over several inputs, from what became of each.
class ExitCodes {
 public:
  void add(ExitCode code) {
    if (count_ == 0) first_ = code;
    ++count_;
    same_ = same_ && code == first_;
  }
  ExitCode total() const { return count_ == 0 || same_ ? first_ : ExitCode::kPartial; }

 private:
  ExitCode first_ = ExitCode::kOk;
  int count_ = 0;
  bool same_ = true;
};

// Takes the end of each input, and says what the whole came to.
class Ends {
 public:
  explicit Ends(const Options& options) : options_(options) {}

  // False: no other input is to begin.
  bool add(const DumpTarget& target, const DumpOutcome& outcome) {
    print_result(options_, target, outcome);
    const ExitCode code = report(target, outcome);
    codes_.add(code);
    interrupted_ = interrupted_ || code == ExitCode::kInterrupted;
    return !interrupted_;
  }
  bool add(const Error& error) {
    // A disk that is full for one input is full for the next.
    const bool fatal = error.kind() == ErrorKind::kOutput || error.kind() == ErrorKind::kInterrupted;
    if (fatal && !fatal_) fatal_ = error.fault();
    if (fatal) return false;
    fmt::print(stderr, "saccade: {}\n", error_text(error));
    codes_.add(exit_code(error.kind()));
    return true;
  }
  bool add_unexpected(const DumpTarget& target, const char* what) {
    fmt::print(stderr, "saccade: {}: {}\n", masked_uri(target.uri), what);
    codes_.add(ExitCode::kUnexpected);
    return true;
  }
  int total() const {
    if (interrupted_) return static_cast<int>(ExitCode::kInterrupted);
    if (fatal_) throw_fault(*fatal_);
    return static_cast<int>(codes_.total());
  }

 private:
  const Options& options_;
  ExitCodes codes_;
  bool interrupted_ = false;
  std::optional<Fault> fatal_;
};

void dump_one_by_one(const Options& options, const std::vector<DumpTarget>& targets, RunInterrupt& interrupt,
                     Ends& ends) {
  keep_between_inputs(options, 0);
  for (const DumpTarget& target : targets) {
    if (interrupt.requested()) return;
    try {
      if (!ends.add(target, dump_input(options, target.uri, target.directory, interrupt))) return;
    } catch (const Error& error) {
      if (targets.size() == 1) throw;
      if (!ends.add(error)) return;
    }
  }
}

}  // namespace

int run_dump(const Options& options) {
  RunInterrupt interrupt;
  const StopSignal signal([&interrupt] { interrupt.interrupt(); });
  const std::vector<DumpTarget> targets = make_targets(options);
  const int wanted =
      options.jobs.is_auto ? default_jobs(options.pipeline.backend, usable_cores()) : options.jobs.count.value_or(1);
  const int jobs = std::min(wanted, static_cast<int>(targets.size()));
  Ends ends(options);
  if (jobs <= 1) {
    dump_one_by_one(options, targets, interrupt, ends);
  } else {
    dump_many(options, targets, jobs, interrupt, [&](const DumpTarget& target, const DumpEnd& end) {
      if (end.outcome) return ends.add(target, *end.outcome);
      try {
        std::rethrow_exception(end.error);
      } catch (const Error& error) {
        return ends.add(error);
      } catch (const DeviceError& error) {
        return ends.add(Error(fault_of(error)));
      } catch (const std::exception& error) {
        return ends.add_unexpected(target, error.what());
      }
    });
  }
  return interrupt.requested() ? static_cast<int>(ExitCode::kInterrupted) : ends.total();
}

}  // namespace saccade
