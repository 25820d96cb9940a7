// FFmpeg's log, brought into ours.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

namespace saccade {

// Once per process: errors become warnings, the rest debug messages. A message that repeats is shown the 1st, 10th,
// 100th ... time. Any thread; called by open_decoder().
void route_ffmpeg_log();

// Errors one decoder logged, on whichever thread: some damage shows nowhere else. Put its address into the codec
// context's `opaque` before the decoder is opened.
struct ComplaintCounter {
  std::atomic<std::int64_t> errors{0};
};

struct CapturedError;

// While one lives, the first error FFmpeg logs is kept: it says what a return code can't. Errors logged on the thread
// that made it are kept in silence; those of FFmpeg's own threads are shown as well. Nestable; the innermost wins.
class ErrorCapture {
 public:
  ErrorCapture();
  ~ErrorCapture();
  ErrorCapture(const ErrorCapture&) = delete;
  ErrorCapture& operator=(const ErrorCapture&) = delete;
  std::string first() const;  // empty: nothing was logged

 private:
  std::shared_ptr<CapturedError> kept_;
};

}  // namespace saccade
