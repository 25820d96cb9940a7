// How a signal ends the run of any command that reads an input.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "pipeline/run/session.h"

namespace saccade {

// What a signal interrupts: whatever runs are going on at that moment.
class RunInterrupt {
 public:
  // While one of these lives, interrupt() interrupts the session. What was being opened is open.
  class Scope {
   public:
    Scope(RunInterrupt& owner, Session& session);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    RunInterrupt& owner_;
    Session& session_;
  };
  // What to do when there is nothing to interrupt but a source that is being opened: any thread.
  void set_opening(const std::string& input);
  // SourceConfig::stop of sources that are opened beside others: interrupt() ends their opening.
  const std::shared_ptr<std::atomic<bool>>& stop() const { return stop_; }
  void interrupt();
  bool requested() const;

 private:
  mutable std::mutex mutex_;
  const std::shared_ptr<std::atomic<bool>> stop_ = std::make_shared<std::atomic<bool>>(false);
  std::vector<Session*> sessions_;
  std::string opening_;
  bool requested_ = false;
};

}  // namespace saccade
