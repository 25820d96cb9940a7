// The markers of a store, and what they add up to.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/work/commit/tally.h"
#include "app/work/plan/plan.h"

namespace saccade {

// What is wrong with a marker, given its unit, and what to do about it, as a sentence goes on behind the marker's name.
// Empty: nothing.
std::string marker_refusal(const Plan& plan, const PlannedUnit* unit, const Json& marker);

// A unit's marker; none: there is none. Throws UsageError where the marker is wrong, or the plan that it is judged by;
// Error of kOutput where it can't be read.
std::optional<Json> sound_marker(const Plan& plan, const PlannedUnit& unit);

// Takes a sound marker's items from `pending` to what became of them.
void add_marker(Counts& counts, const PlannedUnit& unit, const Json& marker);

struct StoreCounts {
  Counts counts;
  std::int64_t units_done = 0;
  std::vector<std::string> faults;  // lines; not empty: the counts don't add up
};

// Reads all markers. each: called with a unit and its marker, where that is sound. Where one is not, and the plan isn't
// the one that was made, only the plan's fault is reported. Throws Error of kOutput where one can't be read.
using EachMarker = std::function<void(const PlannedUnit&, const Json&)>;
StoreCounts count_markers(const Plan& plan, const EachMarker& each = {});

}  // namespace saccade
