// Opening: from what the user wrote to a container and the decoder of its best video stream.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "pipeline/source/demux/pipe.h"
#include "pipeline/source/demux/sequence.h"
#include "pipeline/source/demux/watch.h"
#include "pipeline/source/ffmpeg/av.h"
#include "pipeline/source/ffmpeg/log.h"
#include "pipeline/source/frame/frame_source.h"

namespace saccade {

enum class InputKind : std::uint8_t { kFile, kPipe, kDevice, kNetwork, kGraph };

// Where an input lies, in FFmpeg's terms.
struct InputLocation {
  std::string url;
  std::string format;     // a forced demuxer ("lavfi", "video4linux2"), or empty
  bool is_stdin = false;  // read once, never sought
  bool is_device = false;
  InputKind kind = InputKind::kFile;
  std::optional<ImageSequence> sequence = {};
};

// A file that exists is a file, whatever characters its name has. Throws InputError for what is missing, unreadable,
// empty or a directory.
InputLocation locate_input(const std::string& uri);

class OpenGuard;

// A camera, and a network stream of no known length that its sender paces. Not HLS and DASH, which come in bursts of
// seconds; nor a pipe, whose writer can wait, unless the user says so.
bool is_live(const AVFormatContext& format, const InputLocation& location, const LiveConfig& config);

struct OpenedInput {
  OpenedInput();
  OpenedInput(OpenedInput&&) noexcept;
  OpenedInput& operator=(OpenedInput&&) noexcept;
  ~OpenedInput();
  std::unique_ptr<OpenGuard> guard;  // of `format`
  std::unique_ptr<ReadWatch> watch;  // of all that `format` reads
  std::unique_ptr<PipeInput> pipe;   // what `format` reads from, where that is a pipe
  FormatContextPtr format;
  AVStream* stream = nullptr;                    // of `format`
  std::unique_ptr<ComplaintCounter> complaints;  // of `codec`
  std::optional<std::int64_t> last_pts;          // of `stream`: the last packet wanted
  std::string note;                              // about the input, for `info` and the log; or empty
  bool live = false;                             // frames come when they happen: see is_live()
  double stall_timeout_s = 0;                    // 0: none
  CodecContextPtr codec;                         // declared last: it goes first
};

// Opens, probes, picks the stream and opens its decoder; the other streams are discarded. `interrupted` is polled while
// FFmpeg blocks and must outlive the result. Throws InputError: input, fault, remedy; Error kInterrupted.
OpenedInput open_input(const SourceConfig& config, const std::atomic<bool>& interrupted);

}  // namespace saccade
