// The worker processes of `work`: starts, feeds, hears, times and reaps them. The judges decide what becomes of videos.
#pragma once

#include <poll.h>

#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/options/options.h"
#include "app/work/process/worker_process.h"
#include "app/work/run/item.h"

namespace saccade {

struct RosterEvent {
  enum class Kind : std::uint8_t {
    kFrames,   // something of it was decoded
    kEnd,      // `end` has how; the worker no longer has it
    kUnbegun,  // its worker died before it began the item
  };
  Kind kind;
  OpenItem* item;
  bool was_alone = false;
  ItemEnd end = {};
};

// Errors: a worker that can't be started throws Error of kOutput. One thread.
class Roster {
 public:
  // folder: for the dumps of single videos.
  Roster(const Options& options, const Plan& plan, std::string folder);
  ~Roster();
  Roster(const Roster&) = delete;
  Roster& operator=(const Roster&) = delete;

  int slots() const;  // how many videos run side by side in all
  // Gives workers of `next`, from its front, evenly. last: no more come, so no worker keeps an item waiting that
  // another one could begin.
  void feed(std::deque<OpenItem*>& next, bool last);
  void feed_alone(std::deque<OpenItem*>& next);
  void retire_idle();    // nothing is left: workers end while others still work
  bool is_idle() const;  // no worker has an item

  void watch(std::vector<pollfd>& fds) const;
  bool any_ends() const;  // a worker has closed its output, and is about to end
  std::vector<RosterEvent> listen();
  void watch_times();
  void forgive_pause();  // after each poll(): time in which this process stood still counts against no worker
  const std::optional<WorkStop>& stop() const { return stop_; }  // no worker can go on
  std::int64_t notes() const { return notes_; }                  // inputs that were written to since the plan
  void kill_all();
  std::int64_t next_number() { return ++begun_; }  // of an item that is begun: Note [Held inputs]
  std::int64_t begun() const { return begun_; }

 private:
  struct Worker;
  Worker& start(bool alone, int device);
  void give(Worker& worker, OpenItem& item);
  bool has_enough(int device, int most) const;
  void renew(Worker& worker);
  void hear(Worker& worker, const Json& event, std::vector<RosterEvent>& events);
  void hear_beat(Worker& worker, const Json& event, std::vector<RosterEvent>& events);
  void bury(Worker& worker, const ProcessEnd& end, std::vector<RosterEvent>& events);
  bool watch_process(Worker& worker);
  void warn_of_stall();
  double timeout_s(const OpenItem& item) const;
  void fail(int exit, std::string line);

  const Options& options_;
  const Plan& plan_;
  const std::string folder_;
  std::list<std::unique_ptr<Worker>> workers_;
  std::vector<int> devices_;
  int jobs_ = 1;
  int cores_ = 1;         // of each worker
  int early_deaths_ = 0;  // of workers that had begun nothing, in a row
  bool stall_warned_ = false;
  std::int64_t directories_ = 0;
  std::int64_t begun_ = 0;
  std::int64_t notes_ = 0;
  double done_media_s_ = 0, done_wall_s_ = 0;
  std::int64_t done_items_ = 0;
  WorkClock::time_point looped_at_;
  std::optional<WorkStop> stop_;
};

}  // namespace saccade
