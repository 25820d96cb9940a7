// FFmpeg's messages, each given to the source that it is about.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "pipeline/log.h"

struct AVCodecContext;

namespace saccade {

// Note [FFmpeg's log]
// FFmpeg has one log callback for a process, and no call that returns it. Ours is installed while an FfmpegLog or an
// ErrorCapture lives. A message belongs to a source when the source's decoder or a part of it logs it, on whichever
// thread, or when its thread is inside a Scope. Every other message goes on to FFmpeg's default callback, or to where
// the program's log_other_messages() says. With the last user the default callback is restored. A callback that
// somebody else has installed meanwhile is left alone; as long as it is there, an error here says its code alone.
struct FfmpegMessages;

// What a stream lacks because it never came. Demuxers go on without it, and say so in warnings alone.
struct Losses {
  std::int64_t packets = 0;   // RTP packets, by the gaps in their numbers
  std::int64_t segments = 0;  // of a playlist, that could not be opened or had expired
};

// What FFmpeg says of a connection in its log alone. Used by the thread that reads the input, inside a Scope.
struct LinkNotes {
  // HTTP. Breaks are counted also where FFmpeg could go on.
  std::int64_t breaks = 0;         // an answer ended early, a connection was made again, or none could be had
  std::int64_t answers_ended = 0;  // chunked answers that came with their end
  bool ends_inside = false;        // Matroska: the input ends inside an element
  // RTSP
  std::int64_t stray_bytes = 0;    // since the last packet: of a message between packets that has no end yet
  std::int64_t line_bytes = 0;     // of its last line
  std::int64_t stale_packets = 0;  // dropped since the last one: their numbers lie before its own
  bool in_packet = false;          // the last read began one of media, whole or not
  int read_error = 0;              // that FFmpeg hides: it gives a packet that it held, then calls it the end
};

// One a source. Errors become warnings, the rest debug messages; one that repeats is shown the 1st, 10th, 100th ...
// time. Any thread makes and destroys it; it outlives the decoders that it owns. Once `stopped` is set, errors are
// debug messages too: they are about what the stop itself cut off.
class FfmpegLog {
 public:
  explicit FfmpegLog(Log log, std::shared_ptr<const std::atomic<bool>> stopped = nullptr);
  ~FfmpegLog();
  FfmpegLog(const FfmpegLog&) = delete;
  FfmpegLog& operator=(const FfmpegLog&) = delete;

  // While one lives, what its thread does with FFmpeg is done for `log`. Nestable.
  class Scope {
   public:
    explicit Scope(const FfmpegLog& log);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    const std::shared_ptr<FfmpegMessages>* outer_;
  };

  // Takes the context's `opaque`, by which its messages are known. Before the decoder is opened.
  void own(AVCodecContext& context) const;
  // Errors that its decoders have logged: some damage shows nowhere else.
  std::int64_t complaints() const;
  Losses losses() const;    // so far; of demuxers that read inside a Scope
  LinkNotes& link() const;  // the reader may reset them

 private:
  std::shared_ptr<FfmpegMessages> messages_;
};

// While one lives, the first error FFmpeg logs is kept: it says what a return code can't. Errors logged on the thread
// that made it are kept in silence; those of the decoders of this thread's source, on FFmpeg's own threads, are shown
// as well. Nestable: the innermost wins.
class ErrorCapture {
 public:
  ErrorCapture();
  ~ErrorCapture();
  ErrorCapture(const ErrorCapture&) = delete;
  ErrorCapture& operator=(const ErrorCapture&) = delete;
  std::string first() const;            // empty: nothing was logged
  std::string explain(int code) const;  // FFmpeg's words for an error code, and first() in brackets

 private:
  friend struct FfmpegMessages;
  std::shared_ptr<FfmpegMessages> source_;  // the thread's; null: none
  ErrorCapture* outer_;                     // of this thread
  std::string first_;
};

// For a program, which owns its process; a library must not. Messages that belong to no source, say an encoder's, go to
// `log` from now on.
void log_other_messages(const Log& log);

// Whether FFmpeg has logged that a picture is larger than it was allowed.
bool says_too_many_pixels(const std::string& logged);

// Whether FFmpeg has logged that a device's memory or the host's is used up: its codes for devices say less.
bool says_no_memory(const std::string& logged);

}  // namespace saccade
