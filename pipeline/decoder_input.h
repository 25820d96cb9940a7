// Opening: from what the user wrote to a container and the decoder of its best video stream.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "pipeline/decoder_av.h"
#include "pipeline/decoder_log.h"
#include "pipeline/decoder_sequence.h"
#include "pipeline/frame_source.h"

namespace saccade {

// Where an input lies, in FFmpeg's terms.
struct InputLocation {
  std::string url;
  std::string format;     // a forced demuxer ("lavfi", "video4linux2"), or empty
  bool is_stdin = false;  // read once, never sought
  bool is_device = false;
  std::optional<ImageSequence> sequence = {};
};

// A file that exists is a file, whatever characters its name has. Throws InputError for what is missing, unreadable,
// empty or a directory.
InputLocation locate_input(const std::string& uri);

struct OpenedInput {
  FormatContextPtr format;
  AVStream* stream = nullptr;                    // of `format`
  std::unique_ptr<ComplaintCounter> complaints;  // of `codec`
  std::optional<std::int64_t> last_pts;          // of `stream`: the last packet wanted
  std::string note;                              // about the input, for `info` and the log; or empty
  CodecContextPtr codec;                         // declared last: it goes first
};

// Opens, probes, picks the stream and opens its decoder; the other streams are discarded. `interrupted` is polled while
// FFmpeg blocks and must outlive the result. Throws InputError: input, fault, remedy.
OpenedInput open_input(const SourceConfig& config, const std::atomic<bool>& interrupted);

}  // namespace saccade
