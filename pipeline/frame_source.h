// Where frames come from: a decoder or a built-in test pattern.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "pipeline/frame.h"
#include "pipeline/stream_info.h"

namespace saccade {

enum class ReadStatus : std::uint8_t { kOk, kAgain, kEnd, kFailed };

enum class HwDecode : std::uint8_t { kNo, kCuda };
enum class Deinterlace : std::uint8_t { kAuto, kYes, kNo };

// What an input can't say itself, as ffmpeg's -f (-input_format for a device), -video_size, -framerate, -pixel_format.
// Empty: not given. A hint that the input has no use for is a UsageError.
struct InputHints {
  std::string format;
  std::string size;
  std::string rate;
  std::string pixel_format;
};

struct SourceConfig {
  std::string uri;  // path, "-", URL, lavfi:GRAPH, test://NAME
  InputHints input;
  std::optional<int> stream_index;  // among the video streams FFmpeg lists; default: its best
  std::string filters;              // --vf, FFmpeg syntax
  Deinterlace deinterlace = Deinterlace::kAuto;
  double start_s = 0;                // from the stream's first time stamp; exact, to the frame
  std::optional<double> duration_s;  // frames with time < start + duration
  std::optional<std::int64_t> max_frames;
  std::int64_t loops = 0;                           // extra plays after the first; -1: for ever. Times go on rising
  int threads = 0;                                  // decoder threads, 0: FFmpeg's choice
  bool keep_first_format = true;                    // scale and convert later frames to the first one's size and layout
  std::int64_t max_pixels = std::int64_t{1} << 27;  // of a picture: 16K UHD fits; a larger one is refused
  HwDecode hwdec = HwDecode::kNo;  // tried; where it can't be, the CPU decodes, and StreamInfo says why
  bool require_hwdec = false;      // that is an UnavailableError instead
  bool keep_on_card = false;       // frames decoded there stay there (MemorySpace::kCuda), unless they are converted
};

// Counters a source keeps; read after the end, or from its own thread.
struct SourceCounters {
  std::int64_t frames = 0;           // delivered
  std::int64_t packets_corrupt = 0;  // refused by the demuxer or the decoder
  std::int64_t frames_corrupt = 0;   // delivered, but flagged as damaged by the decoder
  std::int64_t pts_made_up = 0;      // frames without a time stamp, given the last one plus a frame's duration
  std::int64_t pts_not_rising = 0;   // frames whose time stamp did not rise
  std::int64_t format_changes = 0;
  bool truncated = false;  // the container ended before its promise, or with an I/O error
};

// One reader thread. interrupt() may come from any thread and makes a blocking call return kFailed or kEnd promptly.
class FrameSource {
 public:
  virtual ~FrameSource() = default;
  virtual const StreamInfo& info() const = 0;
  virtual ReadStatus next(Frame& out) = 0;  // kAgain: nothing now, call again (live)
  virtual const SourceCounters& counters() const = 0;
  virtual const std::string& error() const = 0;  // after kFailed: input, fault, remedy in one line
  virtual void interrupt() = 0;
  // The next frame is the first whose time is pts_ns or later, exactly; kEnd when there is none. The reader's thread.
  // False, and nothing happened, where the input can't go back: a pipe, a device.
  virtual bool seek(std::int64_t /*pts_ns*/) { return false; }
  virtual void recycle(Frame frame) = 0;  // optional, any thread: gives the frame's shell back for reuse
};

// Opens, reads the headers and the first frame (so that info() is true). Throws InputError.
std::unique_ptr<FrameSource> open_source(const SourceConfig& config);

}  // namespace saccade
