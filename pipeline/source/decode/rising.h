// Whether a stream's stamps rise, from its beginning up to a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "pipeline/source/demux/demuxer.h"
#include "pipeline/source/ffmpeg/log.h"

namespace saccade {

// Note [Stamps that begin again]
// In MPEG program and transport streams, FLV and Ogg, and in the fragments of an MP4, time stamps may begin again: a
// recording that was joined to another, a disc's chapters. Times go on there (Note [Times that do not rise]), so a
// stamp is a time only if all stamps before it rise. A demuxer that looks for a stamp finds any of the places that bear
// it. So such a file is read up to the start, without decoding, before a seek is believed. If stamps fall before the
// start, or if the seek led behind the first place, the file is decoded from the beginning. Of an MP4 the headers of
// its fragments tell (tags/mp4_movies.h). Other containers list all packets, or count them. Through a network at most
// kMostFetched_bytes are read so, and what lies further on is believed. Playlists are believed, too: they say how long
// their parts are.
class RisingStamps {
 public:
  static constexpr std::int64_t kMostFetched_bytes = std::int64_t{64} << 20;

  // All is borrowed. Opens nothing yet.
  RisingStamps(const SourceConfig& config, const InputLocation& location, const std::atomic<bool>& interrupted)
      : config_(config), location_(location), interrupted_(interrupted), log_(config.log) {}

  // Whether stamps may begin again in this input, so that reach() has to be asked.
  static bool needed_by(const Demuxer& demuxer);

  // Reads on, from where it stopped, up to the first packet at `ts` or later, in the stream's time base. Its place in
  // the file; the largest number: none is so late, or as far as is read nothing falls. nullopt: stamps fall before it.
  // Throws as Demuxer.
  std::optional<std::int64_t> reach(std::int64_t ts);

 private:
  const SourceConfig& config_;
  const InputLocation& location_;
  const std::atomic<bool>& interrupted_;
  FfmpegLog log_;  // and counters_: of this reading alone
  SourceCounters counters_;
  std::unique_ptr<Demuxer> demuxer_;
  std::optional<std::int64_t> last_ts_;
  std::int64_t last_byte_ = 0;
  bool fell_ = false;
  bool over_ = false;
};

}  // namespace saccade
