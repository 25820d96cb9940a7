// Whether a call had to wait, as the kernel tells it.
#pragma once

#include <cstdint>

namespace saccade {

// From its making on, on the thread that made it. A thread that was only kept from its core by others has not slept:
// the kernel counts when a thread gives its core up by itself. Where it doesn't count (gVisor), or for what is too long
// for another thread to run, time without work counts as sleep.
class SleepMeter {
 public:
  SleepMeter();
  std::int64_t slept_ns() const;

 private:
  std::int64_t begin_ns_, worked_ns_;
  std::int64_t sleeps_;
};

}  // namespace saccade
