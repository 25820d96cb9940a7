// Whether a stream's stamps rise, from its beginning up to a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "pipeline/source/demux/demuxer.h"

namespace saccade {

// Note [Stamps that begin again]
// In MPEG program and transport streams, FLV and Ogg, and in the fragments of an MP4, time stamps may begin again: a
// recording that was glued to another, a disc's chapters. Times go on there (Note [Times that do not rise]), so a stamp
// is a time only if all stamps before it rise, and a demuxer that looks for a stamp finds any of the places that bear
// it. So --start reads such a file up to the start, without decoding, before it believes where a seek led; where stamps
// fall before the start, or the seek led behind the first place, it decodes from the beginning. Containers with an
// index of all packets need none of this. Through a network at most kMostFetched_bytes are read so; what lies further
// on is believed, and so are playlists, which say themselves how long their parts are.
class RisingStamps {
 public:
  static constexpr std::int64_t kMostFetched_bytes = std::int64_t{64} << 20;

  // All is borrowed. Opens nothing yet.
  RisingStamps(const SourceConfig& config, const InputLocation& location, const std::atomic<bool>& interrupted)
      : config_(config), location_(location), interrupted_(interrupted) {}

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
  SourceCounters counters_;  // of this reading: for no one
  std::unique_ptr<Demuxer> demuxer_;
  std::optional<std::int64_t> last_ts_;
  std::int64_t last_byte_ = 0;
  bool fell_ = false;
  bool over_ = false;
};

}  // namespace saccade
