// How a signal ends the run of any command that reads an input.
#pragma once

#include <mutex>
#include <string>

#include "pipeline/run/session.h"

namespace saccade {

// What a signal interrupts: whatever run is going on at that moment.
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
  };
  // What to do when there is nothing to interrupt but a source that is being opened: any thread.
  void set_opening(const std::string& input);
  void interrupt();
  bool requested() const;

 private:
  mutable std::mutex mutex_;
  Session* session_ = nullptr;
  std::string opening_;
  bool requested_ = false;
};

}  // namespace saccade
