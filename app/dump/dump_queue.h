// Emissions on their way from the pipeline to the writer, in slots that go round and round.
// The consumer is woken for half of them at a time: a switch of threads for every frame costs more than the writing.
// Deliberate limits: one producer, one consumer, a fixed number of slots; nothing is dropped.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <vector>

#include "pipeline/run/pipeline.h"

namespace saccade {

class EmissionQueue {
 public:
  // on_freed: called after each release and abort, on that thread, for a producer that waits for several queues.
  explicit EmissionQueue(std::vector<Emission> slots, std::function<void()> on_freed = {});

  Emission* acquire();            // producer: an empty slot, waiting for one; null: aborted
  Emission* try_acquire();        // producer: likewise, without waiting; null: none is empty now, or aborted
  void submit(Emission* filled);  // producer
  void finish();                  // producer: no more will come; what waits is still taken
  void abort();                   // either side: both return at once

  // Consumer: the oldest filled slot, once half of the slots are filled or `deadline` has come, and then until none is
  // left; null: nothing came, or ended() is true.
  Emission* take(std::chrono::steady_clock::time_point deadline);
  void release(Emission* taken);  // consumer: the slot may be filled again
  bool ended() const;             // finished and drained, or aborted

 private:
  Emission* take_free();
  void tell_freed() const;
  bool worth_waking() const { return 2 * count_ >= ring_.size(); }

  const std::function<void()> on_freed_;
  mutable std::mutex mutex_;
  std::condition_variable freed_;
  std::condition_variable filled_;
  std::vector<Emission> slots_;
  std::vector<Emission*> free_;  // a stack
  std::vector<Emission*> ring_;  // filled, oldest at head_
  std::size_t head_ = 0;
  std::size_t count_ = 0;
  bool draining_ = false;  // the consumer takes what is there
  bool finished_ = false;
  bool aborted_ = false;
};

}  // namespace saccade
