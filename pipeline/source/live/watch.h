// Ends FFmpeg's waits: on request, and when a time-out passes.
#pragma once

#include <atomic>
#include <cstdint>

#include "pipeline/source/ffmpeg/av.h"
#include "pipeline/source/ffmpeg/log.h"

namespace saccade {

inline constexpr double kNetworkTimeout_s = 10;  // of networks and devices, unless LiveConfig gives another

// FFmpeg asks should_stop() some ten times a second while it waits. A process that was stopped or asleep meanwhile gets
// that time added: the other side may well have sent. arm() by the reading thread, the rest by any.
class ReadWatch {
 public:
  // `link`: of what is read.
  ReadWatch(const std::atomic<bool>& interrupted, const LinkNotes& link) : interrupted_(interrupted), link_(link) {}
  void arm(double timeout_s);  // from now on; 0: no limit
  bool should_stop();
  // What comes can't be read: bytes between RTSP's packets that end no message, or packets with numbers from the past.
  bool lost_place() const;
  bool timed_out() const { return timed_out_.load(); }  // since arm()
  bool interrupted() const { return interrupted_.load(); }
  double timeout_s() const { return timeout_s_; }
  AVIOInterruptCB callback();  // borrows this

 private:
  const std::atomic<bool>& interrupted_;
  const LinkNotes& link_;
  double timeout_s_ = 0;
  std::atomic<std::int64_t> deadline_ns_{0};
  std::atomic<std::int64_t> asked_ns_{0};
  std::atomic<bool> timed_out_{false};
};

}  // namespace saccade
