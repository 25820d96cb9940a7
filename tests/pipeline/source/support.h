// What the decode tests share: FFmpeg's command line as the truth, and readings of our frames.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "pipeline/source/frame/frame_source.h"
#include "tests/support/temp_dir.h"

namespace saccade::test {

std::string quoted(const std::string& word);                 // for the shell
std::string run(const std::string& command);                 // its stdout; throws std::runtime_error when it fails
void ffmpeg(const std::string& arguments);                   // quiet, overwrites
std::vector<double> ffprobe_times(const std::string& path);  // best-effort times of the first video stream's frames
// All frames as rawvideo.
std::vector<std::uint8_t> ffmpeg_raw(const std::string& input_options, const std::string& path,
                                     const std::string& arguments);

// The planes of a frame without padding, in FFmpeg's rawvideo order.
std::vector<std::uint8_t> packed(const FrameView& view);

// R, G, B (0..255) of a displayed pixel: chroma interpolated at its site, the frame's own matrix.
std::array<double, 3> rgb_at(const FrameView& view, int x, int y);

// One frame, copied out of the source.
struct Shot {
  FrameView view;                   // its planes point into `bytes`
  std::vector<std::uint8_t> bytes;  // packed()
  Shot(const FrameView& from);
  Shot(const Shot&) = delete;
  Shot(Shot&&) = default;
};

struct Recording {
  StreamInfo info;
  SourceCounters counters;
  ReadStatus status = ReadStatus::kOk;  // the last one
  Fault fault;
  std::vector<Shot> shots;
  std::vector<std::int64_t> times_ns() const;
  std::vector<std::uint8_t> all_bytes() const;
};

Recording record(const SourceConfig& config);
Recording record(const std::string& uri);

// Begun at each of these frames of `whole`, a recording has the pictures and times of `whole` from there on, and no
// more damage.
void expect_starts(SourceConfig config, const Recording& whole, std::initializer_list<std::size_t> firsts);
// A seek to each gives the pictures and times of `whole`.
void expect_seeks(const SourceConfig& config, const Recording& whole, std::initializer_list<std::size_t> to);

}  // namespace saccade::test
