// saccade status: how far a store is, in counts that add up.
#include <fmt/format.h>

#include "app/commands.h"
#include "app/exit_code.h"
#include "app/options/options.h"
#include "app/work/markers.h"

namespace saccade {

int run_status(const Options& options) {
  const std::string& store = options.work.store;
  const Plan plan(store);
  const StoreCounts all = count_markers(plan, store);
  if (options.json) {
    Json json = counts_json(all.counts);
    json["units"] = plan.units().size();
    json["units_done"] = all.units_done;
    json["adds_up"] = all.faults.empty();
    json["faults"] = all.faults;
    fmt::print("{}\n", json_text(json, -1));
  } else {
    fmt::print("{}: {}\n{} of {} units, {:.2f} hours of video, {} frames\n", store, counts_line(all.counts),
               all.units_done, plan.units().size(), all.counts.media_s / 3600, all.counts.frames);
  }
  for (const std::string& fault : all.faults) fmt::print(stderr, "saccade: {}: {}\n", store, fault);
  return static_cast<int>(all.faults.empty() ? ExitCode::kOk : ExitCode::kUnexpected);
}

}  // namespace saccade
