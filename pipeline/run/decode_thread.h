// Runs a source on its own thread and feeds a queue.
#pragma once

#include <atomic>
#include <thread>

#include "pipeline/error.h"
#include "pipeline/log.h"
#include "pipeline/run/frame_queue.h"
#include "pipeline/run/stats.h"
#include "pipeline/run/trace.h"
#include "pipeline/source/frame/frame_source.h"

namespace saccade {

// Starts in the constructor. At the end of the stream, and on an error, it closes the queue: what waits is still
// popped. stop() interrupts the source, drops what waits and joins; the destructor stops too.
class DecodeThread {
 public:
  DecodeThread(FrameSource& source, FrameQueue& queue, TraceWriter* trace = nullptr, Log log = {});
  ~DecodeThread();
  void join();  // after the queue was drained
  void stop();
  bool failed() const { return failed_.load(); }  // the stream broke; source.fault() says how. After the queue closed
  const Fault& fault() const { return fault_; }   // what source.next() threw, if it did; after join()
  std::int64_t last_ns() const { return last_ns_.load(); }   // of the newest frame; any time
  const DurationHistogram& times() const { return times_; }  // in source.next(), without its waiting; after join()

 private:
  ReadStatus next(Frame& frame);
  void run();
  FrameSource& source_;
  FrameQueue& queue_;
  TraceWriter* trace_;
  const Log log_;
  DurationHistogram times_;
  std::atomic<std::int64_t> last_ns_{0};
  std::atomic<bool> stop_{false};
  std::atomic<bool> failed_{false};
  Fault fault_;
  std::thread thread_;
};

}  // namespace saccade
