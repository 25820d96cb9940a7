// Numbered and globbed pictures as one video.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace saccade {

// Note [Image sequences]
// As ffmpeg has it: "img%04d.png" counts up from the lowest number there is, and ends before the first number that is
// missing; "shots/*.png" takes what matches, in the order of the names. In a pattern, %% is a percent sign. A file that
// has such a name exactly is that one file.
struct ImageSequence {
  std::string pattern;  // for FFmpeg's image2: begins with / or ./, so that no part of it reads as a protocol
  bool is_glob = false;
  std::int64_t first = 0;      // number of the first picture; 0 for a glob
  std::int64_t count = 0;      // pictures up to the end or the gap
  std::int64_t after_gap = 0;  // pictures left out
  std::string note() const;    // about the gap; empty when there is none
};

bool has_frame_number(const std::string& path);  // %d, %04d ...
bool has_wildcard(const std::string& path);      // *, ?, [

// nullopt: not such a pattern. Throws InputError when nothing matches it.
std::optional<ImageSequence> find_sequence(const std::string& path);

}  // namespace saccade
