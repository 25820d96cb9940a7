// The markers of a store, and what they add up to.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/work/plan/plan.h"
#include "app/work/tally.h"

namespace saccade {

// The units that have markers, sorted: one listing.
std::vector<std::string> committed_units(const std::string& store);

// Whether a video of the plan is done: its options suit.
bool any_done(const Plan& plan);

// What is wrong with a marker, given its unit; empty: nothing.
std::string marker_fault(const Plan& plan, const PlannedUnit* unit, const Json& marker);

// The same, and what to do about it, as a sentence goes on behind the marker's name.
std::string marker_refusal(const Plan& plan, const PlannedUnit* unit, const Json& marker);

// Takes a sound marker's items from `pending` to what became of them.
void add_marker(Counts& counts, const PlannedUnit& unit, const Json& marker);

struct StoreCounts {
  Counts counts;
  std::int64_t units_done = 0;
  std::vector<std::string> faults;  // lines; not empty: the counts don't add up
};

// Reads all markers. each: called with a unit and its marker, where that is sound.
StoreCounts count_markers(const Plan& plan, const std::string& store,
                          const std::function<void(const PlannedUnit&, const Json&)>& each = {});

}  // namespace saccade
