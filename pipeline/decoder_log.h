// FFmpeg's log, brought into ours.
#pragma once

#include <string>

namespace saccade {

// Once per process: errors become warnings, the rest debug messages. A message that repeats is shown the 1st, 10th,
// 100th ... time. Any thread; called by open_decoder().
void route_ffmpeg_log();

// While one lives, the first error FFmpeg logs on this thread is kept and not shown: it says what a return code can't.
// Nestable; the innermost wins.
class ErrorCapture {
 public:
  ErrorCapture();
  ~ErrorCapture();
  ErrorCapture(const ErrorCapture&) = delete;
  ErrorCapture& operator=(const ErrorCapture&) = delete;
  const std::string& first() const { return first_; }
  void keep(std::string message);

 private:
  std::string first_;
  ErrorCapture* outer_;
};

}  // namespace saccade
