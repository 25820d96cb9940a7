// What an input is, from what the user wrote.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "pipeline/source/demux/sequence.h"
#include "pipeline/source/frame/frame_source.h"

struct AVFormatContext;

namespace saccade {

enum class InputKind : std::uint8_t {
  kFile,
  kPipe,  // read once, never sought: standard input, pipe:N, a named pipe
  kDevice,
  kNetwork,
  kGraph,
};

// Where an input lies, in FFmpeg's terms.
struct InputLocation {
  std::string url;
  std::string format;  // a forced demuxer ("lavfi", "video4linux2"), or empty
  InputKind kind = InputKind::kFile;
  std::optional<ImageSequence> sequence = {};
  std::int64_t begin_byte = 0;  // of a file: read from here on, as if nothing lay before
};

std::string url_of(const InputLocation& location);  // what FFmpeg opens

// A file that exists is a file, whatever characters its name has. Throws InputError for what is missing, unreadable,
// empty or a directory.
InputLocation locate_input(const std::string& uri);

// A live stream is a camera, or a network stream of no known length that its sender paces. Not HLS and DASH, which come
// in bursts of seconds; nor a pipe, whose writer can wait, unless the user says so. Only the opened container tells the
// network's files from its streams.
bool is_playlist(const AVFormatContext& format);  // HLS, DASH
bool may_be_live(const InputLocation& location, const LiveConfig& config);
bool is_live(const AVFormatContext& format, const InputLocation& location, const LiveConfig& config);

}  // namespace saccade
