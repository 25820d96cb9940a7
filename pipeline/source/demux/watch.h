// Ends FFmpeg's waits: on request, and when a time-out passes.
#pragma once

#include <atomic>
#include <cstdint>

#include "pipeline/source/ffmpeg/av.h"

namespace saccade {

// FFmpeg asks should_stop() some ten times a second while it waits. A process that was stopped or asleep meanwhile gets
// that time added: the other side may well have sent. arm() by the reading thread, the rest by any.
class ReadWatch {
 public:
  explicit ReadWatch(const std::atomic<bool>& interrupted) : interrupted_(interrupted) {}
  void arm(double timeout_s);  // from now on; 0: no limit
  bool should_stop();
  bool timed_out() const { return timed_out_.load(); }  // since arm()
  bool interrupted() const { return interrupted_.load(); }
  double timeout_s() const { return timeout_s_; }
  AVIOInterruptCB callback();  // borrows this

 private:
  const std::atomic<bool>& interrupted_;
  double timeout_s_ = 0;
  std::atomic<std::int64_t> deadline_ns_{0};
  std::atomic<std::int64_t> asked_ns_{0};
  std::atomic<bool> timed_out_{false};
};

}  // namespace saccade
