// saccade status: how far a store is, in counts that add up.
#include <fmt/format.h>

#include "app/commands.h"
#include "app/counted.h"
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
    fmt::print("{}: {}\n{} of {}, {:.2f} hours of video, {}\n", store, counts_line(all.counts), all.units_done,
               counted(static_cast<std::int64_t>(plan.units().size()), "unit"), all.counts.media_s / 3600,
               counted(all.counts.frames, "frame"));
  }
  for (const std::string& fault : all.faults) fmt::print(stderr, "saccade: {}: {}\n", store, fault);
  return static_cast<int>(all.faults.empty() ? ExitCode::kOk : ExitCode::kUnexpected);
}

}  // namespace saccade
