// SIGINT, SIGTERM and SIGHUP become a flag that loops look at. A second SIGINT or SIGTERM ends the process at once, a
// second SIGHUP does nothing. A process that ignores SIGHUP, as below nohup(1), goes on ignoring it.
#pragma once

#include <functional>

namespace saccade {

// While one lives, the first of these signals sets requested() and calls `wake` on an ordinary thread (a pipe or
// signalfd carries it there), so that `wake` may lock and interrupt a source. At most one at a time.
class StopSignal {
 public:
  explicit StopSignal(std::function<void()> wake);
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;
  bool requested() const;

 private:
  struct State;
  State* state_;
};

}  // namespace saccade
