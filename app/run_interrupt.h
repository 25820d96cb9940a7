// How a signal ends the run of any command that reads an input.
#pragma once

#include <mutex>
#include <string>

#include "pipeline/run/frame_queue.h"
#include "pipeline/source/frame/frame_source.h"

namespace saccade {

// What a signal interrupts: whatever run is going on at that moment.
class RunInterrupt {
 public:
  // While one of these lives, interrupt() ends the source's waits and closes the queue.
  class Scope {
   public:
    Scope(RunInterrupt& owner, FrameSource& source, FrameQueue& queue);
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
  FrameSource* source_ = nullptr;
  FrameQueue* queue_ = nullptr;
  std::string opening_;
  bool requested_ = false;
};

}  // namespace saccade
