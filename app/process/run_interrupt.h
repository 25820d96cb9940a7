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
  // What to do when there is nothing to interrupt but a source that is being opened: any thread. written: what is said
  // then, where it was opened before; empty: that nothing was written.
  void set_opening(const std::string& input, const std::string& written = {});
  // SourceConfig::stop of one source that is opened beside others: interrupt() ends its opening. Each needs its own: a
  // source sets it to end itself.
  std::shared_ptr<std::atomic<bool>> make_stop();
  void interrupt();
  bool requested() const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::weak_ptr<std::atomic<bool>>> stops_;
  std::vector<Session*> sessions_;
  std::string opening_;  // what is said; empty: nothing is being opened
  bool requested_ = false;
};

}  // namespace saccade
