// What `work` knows of the videos and units that it has open.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/work/commit/tally.h"
#include "app/work/commit/unit_result.h"
#include "app/work/judge/verdict.h"

namespace saccade {

using WorkClock = std::chrono::steady_clock;
struct OpenUnit;

struct OpenItem {
  WorkItem item;
  OpenUnit* unit = nullptr;     // null: a probe, which is only tried, to see whether its folder can be read
  Past past;                    // for the judge
  std::optional<GivenUp> held;  // why it is held back
  std::int64_t number = 0;      // of those that were begun, the last time: Note [Held inputs]
  int attempts = 0;
  WorkClock::time_point not_before;  // of another try
  // While a worker has it
  bool started = false;
  WorkClock::time_point started_at;
  WorkClock::time_point moved_at;  // the last frame
  std::int64_t frames = 0;
  std::optional<WorkClock::time_point> writing_since;  // it waits for the disk that it writes to
  ItemResult result;
  bool is_probe() const { return unit == nullptr; }
};

struct OpenUnit {
  const PlannedUnit* planned = nullptr;
  std::vector<std::unique_ptr<OpenItem>> items;
  std::size_t left = 0;  // that have not ended
  Counts ended;          // what became of the others
  WorkClock::time_point begin;
};

// The end of an attempt at a video.
struct ItemEnd {
  Signs signs;
  GivenUp why;  // unless it is done
  std::string damage;
  std::int64_t frames = 0;
  double shown_s = 0;
};

// Why the work ended before all was done: `exit` and one line.
struct WorkStop {
  int exit = 0;
  std::string line;     // empty: interrupted
  bool goes_on = true;  // the same command does, once what `line` says is mended
};

}  // namespace saccade
