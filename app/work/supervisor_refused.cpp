// Videos that don't take the plan's options: whose fault it is.
#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <utility>

#include "app/exit_code.h"
#include "app/work/fault_class.h"
#include "app/work/markers.h"
#include "app/work/share.h"
#include "app/work/supervisor_state.h"

namespace saccade {
namespace {

constexpr std::size_t kMostRefused = 20;  // before others than the next ones are tried
constexpr std::size_t kOthers = 20;       // from all over what is left, before the options are wrong
constexpr std::int64_t kBorrowed = 40;    // of other shares, then

}  // namespace

// Note [Strange videos or strange options]
// A video that doesn't take the plan's options may be a strange one, or the options are wrong: the others tell. Until
// one of them has taken them it is kept. Strange ones often stand together, as videos of one kind and length do in the
// plan's order; so after some of them no more of the next ones are begun, but as many others from all over what is
// left, however many ran when it was decided. Where these refuse, too, or a share holds nothing else, some of other
// shares are opened, up to their first frame: a share must not end a job that is well. Only when none of all these
// takes the options the work stops, before anything was given up.
void Supervisor::refuse(Item& item, GivenUp why) {
  crashes_ = early_deaths_ = 0;
  if (item.is_sibling) return finish(item, std::nullopt);
  if (why.kind != kHwdecUnsupported) why.kind = "input";
  item.suspicion = std::move(why);
  if (options_suit_) return finish(item, std::move(item.suspicion));
  refused_.push_back(&item);
}

void Supervisor::options_suit() {
  options_suit_ = true;
  std::erase_if(sample_, [](const Item* item) { return item->is_borrowed(); });
  waiting_.insert(waiting_.begin(), sample_.begin(), sample_.end());
  sample_.clear();
  for (Item* item : std::exchange(refused_, {})) finish(*item, std::move(item->suspicion));
}

bool Supervisor::on_trial() const { return !options_suit_ && (refused_.size() >= kMostRefused || !borrowed_.empty()); }

// As many as are to be tried yet, evenly from all that nobody has begun; the last one is among them.
void Supervisor::draw_sample() {
  auto begin = static_cast<std::int64_t>(waiting_.size());
  std::int64_t total = begin;
  for (const PlannedUnit* unit : units_) total += unit->items;
  const std::int64_t wanted = std::min(static_cast<std::int64_t>(most_refused_ - refused_.size()), total);
  std::int64_t drawn = 0;
  const auto next = [&] { return drawn < wanted ? (drawn + 1) * total / wanted - 1 : total; };
  std::vector<std::size_t> chosen;  // in waiting_
  for (; next() < begin; ++drawn) chosen.push_back(static_cast<std::size_t>(next()));
  for (const PlannedUnit* unit : std::exchange(units_, {})) {
    const std::int64_t end = begin + unit->items;
    if (next() >= end) {
      units_.push_back(unit);
    } else {
      const std::size_t first = waiting_.size();
      open_unit(*unit);
      for (; next() < end; ++drawn) {
        const std::size_t at = first + static_cast<std::size_t>(next() - begin);
        if (at < waiting_.size()) chosen.push_back(at);  // else it could not be fetched
      }
    }
    begin = end;
  }
  for (const std::size_t at : chosen) sample_.push_back(std::exchange(waiting_[at], nullptr));
  std::erase(waiting_, nullptr);
}

// By chance, one of each equal part: what stands in the plan in turns, as shares do, must not fall in step with it.
void Supervisor::draw_from_other_shares() {
  if (!options_.work.unit.empty()) return;
  const Share share = share_of(options_.work.shard);
  std::vector<const PlannedUnit*> others;
  std::int64_t total = 0;
  for (std::size_t i = 0; i < plan_.units().size(); ++i) {
    if (share.has(static_cast<std::int64_t>(i))) continue;
    others.push_back(&plan_.units()[i]);
    total += others.back()->items;
  }
  const std::int64_t wanted = std::min(kBorrowed, total);
  std::minstd_rand chance(static_cast<std::uint32_t>(share.index + 1));
  std::int64_t drawn = 0, next = 0, begin = 0;
  if (wanted == 0) return;
  const auto draw = [&] {
    const std::int64_t first = drawn < wanted ? drawn * total / wanted : total, end = ++drawn * total / wanted;
    next = first < total ? std::uniform_int_distribution<std::int64_t>(first, end - 1)(chance) : total;
  };
  draw();
  for (const PlannedUnit* unit : others) {
    const std::int64_t end = begin + unit->items;
    std::vector<WorkItem> items;
    if (next < end) items = plan_.items(*unit);
    for (; next < end; draw()) {
      auto item = std::make_unique<Item>();
      item->item = std::move(items.at(static_cast<std::size_t>(next - begin)));
      sample_.push_back(item.get());
      borrowed_.push_back(std::move(item));
    }
    begin = end;
  }
}

void Supervisor::decide_refused() {
  if (refused_.empty() || stop_ || !sample_.empty()) return;
  const bool all_tell =
      std::all_of(workers_.begin(), workers_.end(), [](const auto& worker) { return worker->items.empty(); });
  if (!all_tell || (anything_left() && !on_trial())) return;
  if (any_done(plan_)) return options_suit();
  if (most_refused_ == 0) most_refused_ = refused_.size() + kOthers;
  if (anything_left() && refused_.size() < most_refused_) {
    if (alone_.empty()) draw_sample();
    return;
  }
  if (borrowed_.empty()) draw_from_other_shares();
  if (!sample_.empty()) return;
  stop(static_cast<int>(ExitCode::kUsage), fmt::format("no video takes the plan's options, {} tried: {}",
                                                       refused_.size(), refused_.front()->suspicion->line));
}

}  // namespace saccade
