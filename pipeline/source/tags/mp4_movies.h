// What lies behind a movie in an MP4 file, and in which order its fragments are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "pipeline/source/ffmpeg/av.h"

namespace saccade {

// Note [Movies behind movies]
// FFmpeg reads one movie of an MP4 or QuickTime file. Where two files were joined end to end (`cat`), the second half
// is never read, and FFmpeg says nothing. ISO/IEC 14496-12 8.2.1 allows one `moov`. A second one, with media behind all
// that the first one uses, tells such a file. A spare copy of the `moov` has no media of its own; other boxes behind
// the media (free, uuid, mfra, a camera's own) and bytes that are no boxes mean nothing.
//
// Fragments behind a second `moov` are read, by the first one's headers: a live stream's recording repeats them. If
// their times begin again, FFmpeg takes the first ones for a part of what it has shown, and discards them. Where the
// headers are the same they are kept.
struct Mp4Movies {
  std::optional<std::int64_t> unread_byte;  // where a movie begins that FFmpeg doesn't read, or reads by other headers
  std::optional<std::int64_t> repeated_byte;  // of fragments, where a `moov` with the same headers is first repeated
  bool is_cut = false;                        // the file ends inside a fragment
  bool stamps_fall = false;                   // a fragment of the stream begins before the one that lies before it
};

// `file`: FFmpeg's URL of a file on disk. Reads a few bytes of each box. Nothing where it isn't MP4 or QuickTime.
Mp4Movies read_mp4_movies(const std::string& file, const VideoStream& video);

}  // namespace saccade
