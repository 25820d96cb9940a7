// One input into one folder: decode thread, pipeline on the calling thread, writer thread.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "app/meta.h"
#include "app/options.h"

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

// Pipeline::prepare; its errors then name the input.
void prepare_for(const std::string& uri, Pipeline& pipeline, const FrameView& frame);

struct DumpOutcome {
  enum class Kind : std::uint8_t { kComplete, kDamaged, kInterrupted, kStopped, kSkipped } kind = Kind::kComplete;
  std::string directory;
  Json result;         // the manifest (absent facts when interrupted) and `path`
  std::string damage;  // kDamaged: what was wrong
};

// What stderr says of an interrupted run.
std::string interrupted_text(const std::string& directory, std::int64_t emissions);

// Throws Error: bad input or usage before anything was written, a failed write at any time.
DumpOutcome dump_input(const Options& options, const std::string& uri, const std::string& directory,
                       RunInterrupt& interrupt);

}  // namespace saccade
