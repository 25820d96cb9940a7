// What the supervisor knows of units, items and workers.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/work/supervisor.h"

namespace saccade {

// What a worker said of an item: it knows only what it opened.
std::string with_uri(const WorkItem& item, std::string text);

struct Supervisor::Item {
  WorkItem item;
  Unit* unit = nullptr;
  bool started = false;  // its worker is at it
  int attempts = 0;
  int io_tries = 0;
  int kills_alone = 0;
  std::optional<GivenUp> suspicion;  // why it runs alone, was refused, or is held
  std::int64_t number = 0;           // of those that are begun, the last time: Note [Held inputs]
  bool was_held = false;             // its folder was read meanwhile: what is missing now is missing
  bool is_sibling = false;           // tried to see whether its folder can be read
  Clock::time_point not_before;
  Clock::time_point started_at;
  Clock::time_point moved_at;  // the last frame
  std::int64_t frames = 0;
  std::optional<Clock::time_point> writing_since;  // it waits for the disk that it writes to
  bool ended = false;                              // and counted
  ItemResult result;
  bool is_borrowed() const { return unit == nullptr; }  // of another share, or done already: only tried
};

// What a worker says of the end of an item: done, or why it failed.
struct Supervisor::ItemEnd {
  std::optional<GivenUp> why;
  bool again = false;        // another try may go well
  std::optional<bool> read;  // was_read()
  std::string damage;
  std::int64_t frames = 0;
  double shown_s = 0;
};

struct Supervisor::Unit {
  const PlannedUnit* planned = nullptr;
  std::vector<std::unique_ptr<Item>> items;
  std::size_t left = 0;
  Clock::time_point begin;
};

struct Supervisor::Worker {
  std::unique_ptr<WorkerProcess> process;
  bool alone = false;
  bool retiring = false;  // gets no more
  bool heard = false;     // it has said something
  int device = -1;
  std::int64_t given = 0;
  std::vector<Item*> items;
  std::vector<Item*> hanging;  // for which it was stopped
  Clock::time_point heard_at;
  Clock::time_point beat_at;
};

}  // namespace saccade
