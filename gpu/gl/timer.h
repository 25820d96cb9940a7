// GPU time of a span of commands, read frames later so that nobody waits for it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "gpu/gl/context.h"

namespace saccade::gl {

// begin() and end() around the commands of one frame; poll() gives the oldest finished measurement, at the earliest two
// frames after it was taken. When kDepth are pending, further ones are skipped, not waited for. Spans may nest.
class Timer {
 public:
  static constexpr int kDepth = 4;
  static constexpr int kDelay = 2;

  explicit Timer(const Capabilities& capabilities);  // without timer queries poll() never gives anything
  // Without them also on a software renderer, whose times are the CPU's, and which asking slows down.
  static Timer of_hardware(Capabilities capabilities);

  void begin();
  void end();
  std::optional<std::int64_t> poll_ns();

 private:
  struct Pair {
    Query begin, end;
  };
  std::array<Pair, kDepth> pairs_;
  std::int64_t written_ = 0;  // measurements taken; number n lives in pairs_[n % kDepth]
  std::int64_t read_ = 0;
  std::int64_t frames_ = 0;  // end() calls
  std::array<std::int64_t, kDepth> frame_of_{};
  bool enabled_ = false;
  bool open_ = false;
};

}  // namespace saccade::gl
