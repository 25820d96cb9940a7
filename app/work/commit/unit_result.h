// What became of a unit's items, and how it is put into the store.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/work/plan/plan.h"

namespace saccade {

// Why an item was given up: a line of quarantine/U.H.jsonl.
struct GivenUp {
  std::string kind;  // its class, as "input" or "missing": docs/STORE.md has them
  std::string line;
  std::optional<int> exit;
  std::optional<int> signal;
  int attempts = 1;
};

struct ItemResult {
  WorkItem item;
  std::string directory;  // of its dump; empty: given up
  std::string damage;     // in words; empty: it was whole
  std::optional<GivenUp> given_up;
  std::int64_t frames = 0;  // of what is done
  double shown_s = 0;       // likewise: the media time from its first frame to its last
};

struct UnitResult {
  const PlannedUnit* unit = nullptr;
  std::vector<ItemResult> items;  // in the plan's order
  double wall_s = 0;
};

// Where the store is, and who writes to it.
struct UnitTarget {
  const Plan& plan;     // of the store
  std::string attempt;  // a folder for drafts: Store::use_scratch()
  std::string engine;
  Store& store() const { return plan.store(); }
};

// Writes shard, index and quarantine under their names, then the marker. False: another one's marker was there. The
// items' dumps stay. Throws Error of kOutput.
bool commit_unit(const UnitTarget& target, const UnitResult& result);

}  // namespace saccade
