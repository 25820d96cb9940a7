// The units of a plan: which are left, which this process has, and what has become of all of them.
#pragma once

#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/options/options.h"
#include "app/work/claim/claims.h"
#include "app/work/commit/committer.h"
#include "app/work/commit/markers.h"
#include "app/work/judge/ended.h"
#include "app/work/run/item.h"
#include "app/work/store/attempt.h"

namespace saccade {

// Removes what dead processes of this host left.
void sweep_workers(Store& store);

// Errors of the store, and markers that are wrong, throw as sound_marker() does. One thread.
class Units {
 public:
  // so_far: of all markers. committed: their units. wake: is called on another thread when a unit was committed.
  Units(const Options& options, const Plan& plan, const Attempt& attempt, const StoreCounts& so_far,
        const std::set<std::string>& committed, int committers, std::function<void()> wake);

  // Claims a unit, and opens it. Null: none is free now. Not while commits are far behind.
  OpenUnit* open_next();
  bool may_open() const { return !free_.empty(); }
  // Looks at what others have claimed and committed, now and then, where this process met them or has nothing left.
  // Returns what ended there.
  std::vector<EndedUnit> look_again();

  void end(OpenItem& item, std::optional<GivenUp> why);
  void commit_ended(OpenUnit& unit);  // if all of its items have ended
  std::optional<WorkStop> take_committed();
  void drop_uncommitted();  // the work stops: what has no marker is pending again

  // Before success: units whose markers were removed after they had been counted become pending again. Returns whether
  // there were any.
  bool reopen_unmarked();
  bool all_done() const { return free_.empty() && elsewhere_.empty() && open_.empty() && committing_.empty(); }
  bool is_committing() const { return !committing_.empty(); }
  Counts counts() const;  // of the plan, with what ended in open units

 private:
  std::optional<EndedUnit> count_marker(const PlannedUnit& unit);

  const Options& options_;
  const Plan& plan_;
  Store& store_;
  Counts committed_;
  std::set<std::string> known_;                // units of which the marker is counted
  std::deque<const PlannedUnit*> free_;        // not known to be claimed
  std::vector<const PlannedUnit*> elsewhere_;  // claimed by others
  std::vector<EndedUnit> met_;                 // committed by others, and met by open_next()
  std::list<std::unique_ptr<OpenUnit>> open_;
  std::map<std::string, Counts> committing_;
  WorkClock::time_point look_at_;
  bool began_elsewhere_ = false;
  bool collided_ = false;  // with another process's claim since the last look
  std::optional<Claims> claims_;
  std::unique_ptr<Committer> committer_;  // last: its threads end first
};

}  // namespace saccade
