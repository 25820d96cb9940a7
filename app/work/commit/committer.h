// Puts finished units into the store on threads of its own, while others are worked on. Each unit is one thread's: it
// is copied, hashed twice and waits for the disk, which one thread can't do at the rate of several devices.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "app/work/commit/unit_result.h"
#include "pipeline/error.h"

namespace saccade {

struct Committed {
  UnitResult result;
  bool won = false;  // false: another one's marker was there
  std::optional<Fault> fault;
};

class Committer {
 public:
  // on_done: called on one of `threads` threads after each unit, in any order; then take() has it.
  Committer(UnitTarget target, int threads, std::function<void()> on_done);
  ~Committer();  // what waits is not committed; the folders of what is are gone
  Committer(const Committer&) = delete;
  Committer& operator=(const Committer&) = delete;
  int threads() const { return static_cast<int>(threads_.size()); }
  void add(UnitResult result);
  std::vector<Committed> take();
  std::vector<UnitResult> end();  // what waits is not committed; take() has what is. The last call but that

 private:
  void run(const std::stop_token& stop);
  Committed commit(UnitResult result) const;
  const UnitTarget target_;
  const std::function<void()> on_done_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<UnitResult> waiting_;
  std::vector<Committed> done_;
  std::vector<std::jthread> threads_;
};

}  // namespace saccade
