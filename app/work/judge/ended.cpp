#include "app/work/judge/ended.h"

#include <algorithm>
#include <utility>

namespace saccade {
namespace {

constexpr std::int64_t kLeast = 100;
constexpr std::size_t kLate = 100;
constexpr double kLateBad_percent = 50;
constexpr double kAll_percent = 100;

bool is_more(std::int64_t part, std::int64_t whole, double percent) {
  return kAll_percent * static_cast<double>(part) > percent * static_cast<double>(whole);
}

}  // namespace

EndedUnit ended_unit(const Json& marker) {
  const Json classes = marker.value("classes", Json::object());
  return {marker.at("unit"), marker.value("unix_s", std::int64_t{0}), marker.at("items"), marker.at("quarantined"),
          classes.value("crash", std::int64_t{0})};
}

void sort_by_age(std::vector<EndedUnit>& units) {
  std::stable_sort(units.begin(), units.end(), [](const EndedUnit& a, const EndedUnit& b) {
    return std::pair(a.unix_s, a.quarantined) < std::pair(b.unix_s, b.quarantined);
  });
}

Ended::Ended(double most_bad_percent, const std::vector<EndedUnit>& earlier) : most_bad_percent_(most_bad_percent) {
  for (const EndedUnit& unit : earlier) {
    for (std::int64_t i = 0; i < unit.items; ++i) add(i >= unit.items - unit.quarantined);
  }
}

void Ended::add(bool bad) {
  ++count_;
  bad_ += bad ? 1 : 0;
  late_.push_back(bad);
  late_bad_ += bad ? 1 : 0;
  if (late_.size() <= kLate) return;
  late_bad_ -= late_.front() ? 1 : 0;
  late_.pop_front();
}

bool Ended::may_all_be_bad() const { return most_bad_percent_ >= kAll_percent; }

bool Ended::too_many_bad() const { return count_ >= kLeast && is_more(bad_, count_, most_bad_percent_); }

bool Ended::most_of_late_bad() const {
  return late_.size() == kLate && is_more(late_bad_, late(), std::max(most_bad_percent_, kLateBad_percent));
}

int crashes_in_a_row(const std::vector<EndedUnit>& units) {
  std::int64_t crashes = 0;
  for (auto unit = units.rbegin(); unit != units.rend() && unit->crashed == unit->items; ++unit) {
    crashes += unit->crashed;
  }
  return static_cast<int>(std::min<std::int64_t>(crashes, kLeast));
}

}  // namespace saccade
