// Does the units of a plan. docs/SCALE.md has the rules.
//
//   units --> (fetcher) --> waiting videos --> roster of workers (many at a time) --> verdict --> units --> committer
//                               suspects --> one worker, one video at a time
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/work/judge/ended.h"
#include "app/work/judge/held.h"
#include "app/work/run/fetcher.h"
#include "app/work/run/probes.h"
#include "app/work/run/roster.h"
#include "app/work/run/units.h"

namespace saccade {

class Supervisor {
 public:
  // earlier: what ended in the store before. wake_fd: readable when a signal came.
  Supervisor(const Options& options, const Plan& plan, const Attempt& attempt, Units& units, const Ended& earlier,
             Tally& tally, int wake_fd, int done_fd);
  std::optional<WorkStop> run();  // none: all units have markers

 private:
  void step();
  void open_units();
  void fetch();
  void wait();
  void hear(RosterEvent& event);
  void decide(OpenItem& item, ItemEnd end);
  void hold(OpenItem& item, GivenUp why);
  void note_read(const OpenItem& item);
  void decide_held();
  void finish(OpenItem& item, std::optional<GivenUp> why);
  void check_ended();
  bool anything_waits() const;
  void stop(WorkStop stop);

  const Options& options_;
  const Plan& plan_;
  const Attempt& attempt_;
  Units& units_;
  Tally& tally_;
  const int wake_fd_, done_fd_;
  Roster roster_;
  std::deque<OpenItem*> unfetched_;  // lie in a bucket
  std::deque<OpenItem*> waiting_;
  std::deque<OpenItem*> alone_;
  std::vector<OpenItem*> later_;  // another try, when its time has come
  Held<OpenItem*> held_;
  Probes probes_;
  Ended ended_;
  std::set<std::string> gone_;  // keys of --gone
  WorkClock::time_point touch_at_;
  std::optional<WorkStop> stop_;
  Fetcher fetcher_;  // last: answers come on another thread
};

}  // namespace saccade
