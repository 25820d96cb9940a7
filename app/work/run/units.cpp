#include "app/work/run/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <utility>

#include "app/options/hint_flags.h"
#include "app/process/exit_code.h"
#include "app/process/process_name.h"
#include "app/work/commit/marker_file.h"
#include "pipeline/error.h"

namespace saccade {
namespace {

constexpr int kCommittingAhead = 2;  // units that are done, for each that is being committed
// Between two looks at what others do: a tenth of the time at most, as the listing of a large store takes long.
constexpr auto kLeastPause = std::chrono::seconds(1), kMostPause = std::chrono::seconds(60);
constexpr int kPausesALook = 10;

void add(Counts& sum, const Counts& more) {
  sum.done += more.done;
  sum.damaged += more.damaged;
  sum.quarantined += more.quarantined;
  sum.pending += more.pending;
  for (const auto& [kind, count] : more.classes) sum.classes[kind] += count;
  sum.frames += more.frames;
  sum.media_s += more.media_s;
  sum.ended_s += more.ended_s;
}

// Where of so many units a process begins, by "I/N", I from 0: many that start at once do not meet at the same one.
std::ptrdiff_t begin_of(const std::string& shard, std::size_t units) {
  std::int64_t index = 0, count = 0;
  char more = 0;
  const int read = std::sscanf(shard.c_str(), "%" SCNd64 "/%" SCNd64 "%c", &index, &count, &more);
  if (read != 2 || index < 0 || index >= count)
    throw UsageError(OfOption("shard", shard), "is not I/N with I from 0 to N - 1, as 3/64");
  return static_cast<std::ptrdiff_t>(static_cast<std::int64_t>(units) * index / count);
}

}  // namespace

void sweep_workers(Store& store) {
  for (const std::string& name : sweep_attempts(store.scratch_root())) remove_or_leave(store, heartbeat_name(name));
}

Units::Units(const Options& options, const Plan& plan, const Attempt& attempt, const StoreCounts& so_far,
             const std::set<std::string>& committed, int committers, std::function<void()> wake)
    : options_(options), plan_(plan), store_(plan.store()), committed_(so_far.counts), known_(committed) {
  for (const PlannedUnit& unit : plan.units()) {
    if (known_.count(unit.name) == 0) free_.push_back(&unit);
  }
  if (free_.empty()) return;
  if (!options.work.shard.empty()) {
    std::rotate(free_.begin(), free_.begin() + begin_of(options.work.shard, free_.size()), free_.end());
    began_elsewhere_ = true;
  }
  const Json facts = {{"format", "saccade-worker"},
                      {"schema", 1},
                      {"plan", plan.hash()},
                      {"host", host_name()},
                      {"engine", options.work.engine}};
  claims_.emplace(store_, attempt.name(), facts, options.work.claim_s);
  committer_ =
      std::make_unique<Committer>(UnitTarget{plan, attempt.path(), options.work.engine}, committers, std::move(wake));
}

OpenUnit* Units::open_next() {
  while (!free_.empty() && static_cast<int>(committing_.size()) <= kCommittingAhead * committer_->threads()) {
    const PlannedUnit* planned = free_.front();
    free_.pop_front();
    if (!claims_->take(planned->name)) {
      collided_ = true;
      elsewhere_.push_back(planned);
      // Who began at the same time is met once.
      if (!std::exchange(began_elsewhere_, true) && !free_.empty()) {
        const std::size_t at = std::hash<std::string>{}(claims_->name()) % free_.size();
        std::rotate(free_.begin(), free_.begin() + static_cast<std::ptrdiff_t>(at), free_.end());
      }
      if (WorkClock::now() >= look_at_) return nullptr;  // look_again() sees which are claimed, too
      continue;
    }
    // Whoever had it before may have committed it before this claim.
    if (const auto found = count_marker(*planned)) {
      met_.push_back(*found);
      claims_->release(planned->name);
      continue;
    }
    auto unit = std::make_unique<OpenUnit>();
    unit->planned = planned;
    unit->begin = WorkClock::now();
    for (WorkItem& item : plan_.items(*planned)) {
      auto state = std::make_unique<OpenItem>();
      state->item = std::move(item);
      state->unit = unit.get();
      unit->items.push_back(std::move(state));
    }
    unit->left = unit->items.size();
    open_.push_back(std::move(unit));
    return open_.back().get();
  }
  return nullptr;
}

// Of a unit that another run may have committed; none: it has no marker.
std::optional<EndedUnit> Units::count_marker(const PlannedUnit& unit) {
  const std::optional<Json> marker = sound_marker(plan_, unit);
  if (!marker) return std::nullopt;
  if (known_.insert(unit.name).second) add_marker(committed_, unit, *marker);
  return ended_unit(*marker);
}

std::vector<EndedUnit> Units::look_again() {
  std::vector<EndedUnit> ended = std::exchange(met_, {});
  const auto begin = WorkClock::now();
  if (elsewhere_.empty() || !(collided_ || free_.empty()) || begin < look_at_) return ended;
  collided_ = false;
  sweep_workers(store_);
  std::vector<const PlannedUnit*> left;
  std::vector<std::string> names;
  const std::vector<std::string> committed = committed_units(store_);
  for (const PlannedUnit* unit : free_) left.push_back(unit);
  left.insert(left.end(), elsewhere_.begin(), elsewhere_.end());
  std::erase_if(left, [&](const PlannedUnit* unit) {
    if (!std::binary_search(committed.begin(), committed.end(), unit->name)) return names.push_back(unit->name), false;
    const auto found = count_marker(*unit);
    if (found) ended.push_back(*found);
    return found.has_value();
  });
  const std::vector<std::string> free = claims_->free_of(names);
  const std::set<std::string> may_take(free.begin(), free.end());
  free_.clear();
  elsewhere_.clear();
  for (const PlannedUnit* unit : left) {
    if (may_take.count(unit->name) != 0)
      free_.push_back(unit);
    else
      elsewhere_.push_back(unit);
  }
  const auto pause =
      std::clamp<WorkClock::duration>((WorkClock::now() - begin) * kPausesALook, kLeastPause, kMostPause);
  look_at_ = WorkClock::now() + pause;
  return ended;
}

void Units::end(OpenItem& item, std::optional<GivenUp> why) {
  OpenUnit& unit = *item.unit;
  Counts& counts = unit.ended;
  --unit.left;
  --counts.pending;
  counts.ended_s += item.item.media_s;
  if (why) {
    ++counts.quarantined;
    ++counts.classes[why->kind];
  } else {
    ++(item.result.damage.empty() ? counts.done : counts.damaged);
    counts.frames += item.result.frames;
    counts.media_s += item.result.shown_s;
  }
  item.result.given_up = std::move(why);
}

void Units::commit_ended(OpenUnit& unit) {
  if (unit.left > 0) return;
  UnitResult result;
  result.unit = unit.planned;
  result.wall_s = std::chrono::duration<double>(WorkClock::now() - unit.begin).count();
  for (auto& item : unit.items) {
    item->result.item = std::move(item->item);
    result.items.push_back(std::move(item->result));
  }
  committing_[unit.planned->name] = unit.ended;
  committer_->add(std::move(result));
  open_.remove_if([&unit](const auto& open) { return open.get() == &unit; });
}

std::optional<WorkStop> Units::take_committed() {
  std::optional<WorkStop> stop;
  for (const Committed& unit : committer_ ? committer_->take() : std::vector<Committed>{}) {
    const PlannedUnit& planned = *unit.result.unit;
    const auto counts = committing_.extract(planned.name);
    if (unit.fault) {
      stop = WorkStop{static_cast<int>(exit_code(unit.fault->kind)), error_text(*unit.fault)};
      continue;
    }
    if (unit.won) {
      known_.insert(planned.name);
      add(committed_, counts.mapped());
    } else {
      fmt::print(stderr, "saccade: unit {}: another run has committed it meanwhile\n", planned.name);
      if (!count_marker(planned)) elsewhere_.push_back(&planned);  // that marker is gone, too
    }
    claims_->release(planned.name);
  }
  return stop;
}

bool Units::reopen_unmarked() {
  const std::vector<std::string> committed = committed_units(store_);
  const auto is_committed = [&committed](const std::string& unit) {
    return std::binary_search(committed.begin(), committed.end(), unit);
  };
  if (std::all_of(known_.begin(), known_.end(), is_committed)) return false;
  std::set<std::string> marked;
  StoreCounts all = count_markers(plan_, [&marked](const PlannedUnit& unit, const Json&) { marked.insert(unit.name); });
  if (!all.faults.empty()) throw UsageError(fmt::format("{}: {}", store_.place(), all.faults.front()));
  committed_ = all.counts;
  known_ = std::move(marked);
  for (const PlannedUnit& unit : plan_.units()) {
    if (known_.count(unit.name) == 0) elsewhere_.push_back(&unit);
  }
  return !elsewhere_.empty();
}

void Units::drop_uncommitted() {
  if (committer_) committer_->end();
  take_committed();
  open_.clear();
  committing_.clear();
}

Counts Units::counts() const {
  Counts sum = committed_;
  for (const auto& unit : open_) add(sum, unit->ended);
  for (const auto& [name, counts] : committing_) add(sum, counts);
  return sum;
}

}  // namespace saccade
