// What ended in all runs over a store, and what it says of the installation.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "app/json/json_file.h"

namespace saccade {

// What a marker says of a unit.
struct EndedUnit {
  std::string name;
  std::int64_t unix_s = 0;
  std::int64_t items = 0, quarantined = 0, crashed = 0;
};

EndedUnit ended_unit(const Json& marker);  // a sound one
// The oldest one first; of those of one second the bad ones last.
void sort_by_age(std::vector<EndedUnit>& units);

// Counts what ends. Pure: no clock, no files. One thread.
class Ended {
 public:
  // most_bad_percent: of 0 to 100; more than that were given up: something is wrong. earlier: the oldest one first.
  Ended(double most_bad_percent, const std::vector<EndedUnit>& earlier);
  void add(bool bad);
  std::int64_t count() const { return count_; }
  std::int64_t bad() const { return bad_; }
  bool may_all_be_bad() const;
  // 100 or more ended, and too many of them are bad.
  bool too_many_bad() const;
  // Of the last 100 more than half are bad, and more than may be.
  bool most_of_late_bad() const;
  std::int64_t late() const { return static_cast<std::int64_t>(late_.size()); }
  std::int64_t late_bad() const { return late_bad_; }

 private:
  const double most_bad_percent_;
  std::int64_t count_ = 0, bad_ = 0;
  std::deque<bool> late_;  // whether those that ended last are bad
  std::int64_t late_bad_ = 0;
};

// Of the last ones of `units`, those of which every video crashed: so many videos, one after the other.
int crashes_in_a_row(const std::vector<EndedUnit>& units);

}  // namespace saccade
