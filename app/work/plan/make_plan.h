// From a manifest to a frozen plan: keys, pieces, units.
#pragma once

#include <cstdint>
#include <string>

#include "app/options/options.h"
#include "app/work/plan/plan.h"

namespace saccade {

struct PlanOutcome {
  Plan plan;
  bool made = false;       // false: the very plan was there
  std::int64_t uncut = 0;  // rows that were to be cut, and stay whole: nothing says how long they are
};

// Plans options.plan.manifest into `store`. Where a plan is there already it must be of the same manifest and options.
// The plan is a function of these, and of the sizes and times of the input files. Throws InputError for a manifest that
// can't be used, UsageError that names what differs, Error of kOutput.
PlanOutcome make_plan(const Options& options, Store& store);

// Throws UsageError where the store is a file, or a folder of other things.
void refuse_other_folder(Store& store);

}  // namespace saccade
