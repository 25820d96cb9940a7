// Opening an input: its container, and which of its video streams is read.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "pipeline/source/demux/guard.h"
#include "pipeline/source/demux/locate.h"
#include "pipeline/source/ffmpeg/av.h"
#include "pipeline/source/ffmpeg/log.h"
#include "pipeline/source/live/pipe.h"
#include "pipeline/source/live/watch.h"
#include "pipeline/source/tags/mp4_movies.h"

namespace saccade {

struct OpenedInput {
  std::unique_ptr<ReadWatch> watch;      // of all that `format` reads
  std::unique_ptr<OpenGuard> guard;      // of `format`
  std::unique_ptr<PipeInput> pipe;       // what `format` reads from, where that is a pipe
  FormatContextPtr format;               // goes first
  VideoStream video;                     // of `format`
  std::optional<std::int64_t> last_pts;  // of the stream: the last packet wanted
  Mp4Movies movies;                      // of a file on disk
  std::optional<std::int64_t> end_byte;  // packets from there on are another video's
  std::string note;                      // about the input, for `info` and the log; or empty
  bool live = false;                     // frames come when they happen: see is_live()
  bool sender_waits = false;             // StreamInfo::sender_waits
  bool timeless = false;                 // its time stamps are FFmpeg's own invention: see Note [Times by arrival]
  double stall_timeout_s = 0;            // 0: none
};

std::string second_file_note(std::int64_t byte);  // of one that begins there and is not read

// Opens, probes and picks the stream; the other streams are discarded, but of HTTP files without a length.
// `interrupted` is polled while FFmpeg blocks and must outlive the result, as must `log`, the source's. Throws
// InputError: input, fault, remedy; UsageError for hints; Error kInterrupted.
OpenedInput open_input(const SourceConfig& config, const InputLocation& location, const FfmpegLog& log,
                       const std::atomic<bool>& interrupted);

}  // namespace saccade
