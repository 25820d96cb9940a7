// Feeds workers, and decides what becomes of each item. docs/SCALE.md has the rules.
//
//   units --> waiting items --> workers (many items at a time) --> finished units --> committer
//                    suspects --> one worker, one item at a time
#pragma once

#include <chrono>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/options/options.h"
#include "app/work/committer.h"
#include "app/work/judge/ended.h"
#include "app/work/judge/held.h"
#include "app/work/process/worker_process.h"
#include "app/work/store/attempt.h"
#include "app/work/tally.h"

namespace saccade {

// Why the work ended before all was done: `exit` and one line.
struct WorkStop {
  int exit = 0;
  std::string line;        // empty: interrupted
  bool by_options = true;  // where `exit` is 2: no video takes the plan's options
  bool goes_on = true;     // the same command does, once what `line` says is mended
};

class Supervisor {
 public:
  // `units`: to be done, in this order. `earlier`: what ended in the store before, the oldest first. `wake_fd`:
  // readable when a signal came, or the caller is gone.
  Supervisor(const Options& options, const Plan& plan, std::vector<const PlannedUnit*> units,
             const std::vector<EndedUnit>& earlier, const std::string& store, const Attempt& attempt, Tally& tally,
             int wake_fd);
  ~Supervisor();
  std::optional<WorkStop> run();  // none: all units have markers

 private:
  using Clock = std::chrono::steady_clock;
  struct Unit;
  struct Item;
  struct Worker;
  struct ItemEnd;

  void step();
  void open_units();
  void open_unit(const PlannedUnit& planned);
  void feed();
  void feed_alone();
  void start_worker(bool alone, int device);
  void give(Worker& worker, Item& item);
  void listen();
  void hear(Worker& worker, const Json& event);
  void hear_beat(Worker& worker, const Json& event);
  static ItemEnd end_of(const Item& item, const Json& event);
  void hear_end(Worker& worker, Item& item, ItemEnd end);
  void bury(Worker& worker, const ProcessEnd& end);
  void blame(Worker& worker, Item& item, const ProcessEnd& end);
  void watch_times();
  bool watch_process(Worker& worker);
  void forgive_pause();
  void renew(Worker& worker);
  void again_alone(Item& item, GivenUp why);
  void try_again(Item& item, GivenUp why, std::optional<bool> read);
  void give_up(Item& item, GivenUp why, std::optional<bool> read);
  void hold(Item& item, GivenUp why);
  void note_read(const Item& item);
  bool draw_siblings();
  void decide_held();
  std::string held_line() const;
  void finish(Item& item, std::optional<GivenUp> why);
  void close_if_ended(Unit& unit);
  void close_unit(Unit& unit);
  void take_committed();
  bool count_marker(const PlannedUnit& planned);
  void uncount(const WorkItem& item, const ItemResult& result);
  void uncount_all_open();
  void refuse(Item& item, GivenUp why);
  void options_suit();
  bool on_trial() const;
  void draw_sample();
  void draw_from_other_shares();
  void decide_refused();
  void let_idle_go();
  void check_bad();
  void ask_witness();
  void witness_answers(const std::optional<GivenUp>& why);
  std::optional<WorkItem> done_before() const;
  bool more_is_left(std::int64_t ending = 0) const;
  bool is_witness(const Item& item) const { return &item == witness_.get(); }
  std::string way_out() const;
  bool disk_is_stalled() const;
  bool has_enough(int device) const;
  bool anything_left() const;
  int most_given() const;
  bool is_idle() const;
  void stop(int exit, std::string line, bool by_options = true);
  void stop(const Error& error);
  bool all_done() const;
  int slots() const;
  Item* find(Worker& worker, const std::string& key) const;
  double timeout_s(const Item& item) const;
  std::string directory_for(Item& item);
  Json first_line(bool alone, int device) const;

  const Options& options_;
  const Plan& plan_;
  const std::string store_;
  const Attempt& attempt_;
  Tally& tally_;
  const int wake_fd_;
  std::deque<const PlannedUnit*> units_;
  std::list<std::unique_ptr<Unit>> open_;
  std::deque<Item*> waiting_;
  std::deque<Item*> alone_;
  std::deque<Item*> probes_;                   // siblings: before all others
  std::vector<Item*> later_;                   // another try, when its time has come
  std::vector<Item*> refused_;                 // that don't take the plan's options, while nobody has taken them
  std::deque<Item*> sample_;                   // that are tried while all others are held
  std::list<std::unique_ptr<Item>> borrowed_;  // of other shares, to see whether they take the options
  std::size_t most_refused_ = 0;               // before the options are wrong; 0: no others were tried yet
  bool options_suit_ = false;
  std::list<std::unique_ptr<Worker>> workers_;
  std::vector<int> devices_;
  int jobs_ = 1;
  int cores_ = 1;  // of each worker
  int committing_ = 0;
  int committed_fd_ = -1;
  int crashes_ = 0;       // of items that were alone, in a row
  int early_deaths_ = 0;  // of workers that had begun nothing, in a row
  Ended ended_;
  std::string done_unit_;  // the last one of an earlier run that has a video that was done; empty: none
  std::optional<WorkItem> last_done_;
  std::unique_ptr<Item> witness_;  // was done before, and is tried again
  std::int64_t ask_at_ = 0;        // not before so many have ended
  Held<Item*> held_;
  std::set<std::string> gone_;                 // keys of --gone
  std::list<std::unique_ptr<Item>> siblings_;  // of what is held: only tried
  bool siblings_drawn_ = false;                // and none could be read so far
  std::int64_t begun_ = 0;                     // items that were given to workers
  bool stall_warned_ = false;
  std::int64_t directories_ = 0;
  std::int64_t notes_ = 0;  // inputs that were written to since the plan
  double done_media_s_ = 0, done_wall_s_ = 0;
  std::int64_t done_items_ = 0;
  Clock::time_point touch_at_;
  Clock::time_point looped_at_;  // when the loop last waited
  std::optional<WorkStop> stop_;
  std::unique_ptr<Committer> committer_;  // last: its thread ends first
};

}  // namespace saccade
