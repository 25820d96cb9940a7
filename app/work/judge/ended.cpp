#include "app/work/judge/ended.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace saccade {
namespace {

constexpr std::int64_t kLeast = 100;
constexpr double kAll_percent = 100, kHalf_percent = 50;

}  // namespace

EndedUnit ended_unit(const Json& marker) {
  return {marker.value("unix_s", std::int64_t{0}), marker.at("items"), marker.at("quarantined")};
}

void sort_by_age(std::vector<EndedUnit>& units) {
  std::stable_sort(units.begin(), units.end(), [](const EndedUnit& a, const EndedUnit& b) {
    return std::pair(a.unix_s, a.quarantined) < std::pair(b.unix_s, b.quarantined);
  });
}

Ended::Ended(double most_bad_percent, const std::vector<EndedUnit>& earlier) : most_bad_percent_(most_bad_percent) {
  for (const EndedUnit& unit : earlier) add(unit);
}

void Ended::add(const EndedUnit& unit) {
  for (std::int64_t i = 0; i < unit.items; ++i) add(i >= unit.items - unit.quarantined);
}

void Ended::add(bool bad) {
  ++count_;
  bad_ += bad ? 1 : 0;
  late_.push_back(bad);
  late_bad_ += bad ? 1 : 0;
  if (static_cast<std::int64_t>(late_.size()) <= kLeast) return;
  late_bad_ -= late_.front() ? 1 : 0;
  late_.pop_front();
}

bool Ended::too_many_of_all() const {
  return kAll_percent * static_cast<double>(bad_) > most_bad_percent_ * static_cast<double>(count_);
}

bool Ended::too_many_bad() const {
  if (count_ < kLeast || most_bad_percent_ >= kAll_percent) return false;
  return too_many_of_all() || static_cast<double>(late_bad_) > std::max(most_bad_percent_, kHalf_percent);
}

std::string Ended::line(const std::string& flag) const {
  if (too_many_of_all())
    return fmt::format("{} of {} videos were quarantined, more than {}{:g} %", bad_, count_, flag, most_bad_percent_);
  return fmt::format("{} of the last {} videos were quarantined", late_bad_, kLeast);
}

}  // namespace saccade
