// What ended in all runs over a store, and when the work stops for it.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "app/json/json_file.h"

namespace saccade {

// What a marker says of a unit.
struct EndedUnit {
  std::int64_t unix_s = 0;
  std::int64_t items = 0, quarantined = 0;
};

EndedUnit ended_unit(const Json& marker);  // a sound one
// The oldest one first; of those of one second the bad ones last.
void sort_by_age(std::vector<EndedUnit>& units);

// Note [When work stops]
// Work stops when 100 or more videos have ended in the store and more than --max-bad percent of them, or more than half
// of the last 100, were quarantined. `--max-bad 100` never stops.
// Pure: no clock, no files. One thread.
class Ended {
 public:
  // earlier: the oldest one first.
  Ended(double most_bad_percent, const std::vector<EndedUnit>& earlier);
  void add(bool bad);
  void add(const EndedUnit& unit);
  bool too_many_bad() const;
  // "6 of 101 videos were quarantined, more than --max-bad 5 %". flag: how the limit is called, with a blank.
  std::string line(const std::string& flag) const;

 private:
  bool too_many_of_all() const;
  const double most_bad_percent_;
  std::int64_t count_ = 0, bad_ = 0;
  std::deque<bool> late_;  // whether those that ended last are bad
  std::int64_t late_bad_ = 0;
};

}  // namespace saccade
