// Videos that don't take the plan's options: whose fault it is.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/exit_code.h"
#include "app/work/fault_class.h"
#include "app/work/markers.h"
#include "app/work/supervisor_state.h"

namespace saccade {
namespace {

constexpr int kMostRefused = 20;               // before others than the next ones are tried
constexpr int kMostTried = kMostRefused + 20;  // before the options are wrong

}  // namespace

// Note [Strange videos or strange options]
// A video that doesn't take the plan's options may be a strange one, or the options are wrong: the others tell. Until
// one of them has taken them it is kept. Strange ones often stand together, as videos of one kind and length do in the
// plan's order; so after some of them no more of the next ones are begun, but some from all over what is left. Only
// when these refuse, too, the work stops, before anything was given up.
void Supervisor::refuse(Item& item, const Json& event) {
  crashes_ = 0;
  const char* kind = event.at("class") == kHwdecUnsupported ? kHwdecUnsupported : "input";
  item.suspicion =
      GivenUp{kind, with_uri(item.item, event.at("line")), event.at("exit").get<int>(), std::nullopt, item.attempts};
  if (options_suit_) return finish(item, std::move(item.suspicion));
  refused_.push_back(&item);
}

void Supervisor::options_suit() {
  options_suit_ = true;
  waiting_.insert(waiting_.begin(), sample_.begin(), sample_.end());
  sample_.clear();
  for (Item* item : std::exchange(refused_, {})) finish(*item, std::move(item->suspicion));
}

bool Supervisor::on_trial() const { return !options_suit_ && static_cast<int>(refused_.size()) >= kMostRefused; }

// As many as are to be tried yet, evenly from all that nobody has begun; the last one is among them.
void Supervisor::draw_sample() {
  auto begin = static_cast<std::int64_t>(waiting_.size());
  std::int64_t total = begin;
  for (const PlannedUnit* unit : units_) total += unit->items;
  const std::int64_t wanted = std::min<std::int64_t>(kMostTried - static_cast<int>(refused_.size()), total);
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

void Supervisor::decide_refused() {
  if (refused_.empty() || stop_ || !sample_.empty()) return;
  const bool all_tell =
      std::all_of(workers_.begin(), workers_.end(), [](const auto& worker) { return worker->items.empty(); });
  if (!all_tell || (anything_left() && !on_trial())) return;
  if (any_done(plan_)) return options_suit();
  if (anything_left() && static_cast<int>(refused_.size()) < kMostTried) {
    if (alone_.empty()) draw_sample();
    return;
  }
  stop(static_cast<int>(ExitCode::kUsage), fmt::format("no video takes the plan's options, {} tried: {}",
                                                       refused_.size(), refused_.front()->suspicion->line));
}

}  // namespace saccade
