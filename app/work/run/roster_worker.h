// A worker as the roster knows it.
#pragma once

#include "app/work/run/roster.h"

namespace saccade {

struct Roster::Worker {
  std::unique_ptr<WorkerProcess> process;
  bool alone = false;
  bool retiring = false;  // gets no more
  bool heard = false;     // it has reported something
  int device = -1;
  std::int64_t given = 0;
  std::vector<OpenItem*> items;
  std::vector<OpenItem*> hanging;  // for which it was stopped
  WorkClock::time_point heard_at;
  WorkClock::time_point beat_at;

  OpenItem* find(const std::string& key) const {
    for (OpenItem* item : items) {
      if (item->item.key == key) return item;
    }
    return nullptr;
  }
};

}  // namespace saccade
