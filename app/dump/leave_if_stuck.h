// A source may wait for a pipe or a device that never answers, where no interrupt reaches it.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "app/process/exit_code.h"
#include "pipeline/error.h"

namespace saccade {

// While one lives for longer than two seconds, it prints `line` on stderr and ends the process with `code`, joining
// nobody. For the last step of a run, when all that matters is on disk.
class LeaveIfStuck {
 public:
  LeaveIfStuck(std::string line, ExitCode code);
  ~LeaveIfStuck();
  LeaveIfStuck(const LeaveIfStuck&) = delete;
  LeaveIfStuck& operator=(const LeaveIfStuck&) = delete;

 private:
  void run();
  const std::string line_;
  const ExitCode code_;
  std::mutex mutex_;
  std::condition_variable done_;
  bool is_done_ = false;
  std::thread thread_;
};

}  // namespace saccade
