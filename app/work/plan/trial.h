// Whether videos take the options of a plan, before it is made.
#pragma once

#include <string>
#include <vector>

#include "app/options/options.h"
#include "app/work/plan/plan.h"

namespace saccade {

inline constexpr std::size_t kTrialVideos = 8;

// Opens the items to their first frame, on the CPU, in a process of its own. Throws UsageError if one or more refuse
// the options and none takes them. If one ends the process, or all take longer than a minute, nothing is refused.
// facts: of plan.json. Throws Error of kOutput where no process can be started.
void try_options(const Options& options, const Json& facts, const std::vector<WorkItem>& items);

}  // namespace saccade
