#include "pipeline/source/frame/frame_source.h"

#include <fmt/format.h>

namespace saccade {

std::string SourceCounters::damage() const {
  std::string text;
  const auto add = [&text](std::int64_t count, const char* what, const char* how) {
    if (count == 0) return;
    text += fmt::format("{}{} {}{}{}", text.empty() ? "" : ", ", count, what, count == 1 ? "" : "s", how);
  };
  add(packets_corrupt, "corrupt packet", "");
  add(frames_corrupt, "corrupt frame", "");
  add(packets_lost, "packet", " lost on the way");
  add(segments_lost, "segment", " missing");
  return text;
}

SourceCounters& SourceCounters::operator+=(const SourceCounters& other) {
  frames += other.frames;
  packets_corrupt += other.packets_corrupt;
  frames_corrupt += other.frames_corrupt;
  packets_lost += other.packets_lost;
  segments_lost += other.segments_lost;
  pts_made_up += other.pts_made_up;
  pts_not_rising += other.pts_not_rising;
  format_changes += other.format_changes;
  frames_off_device += other.frames_off_device;
  decoder_used = decoder_used || other.decoder_used;
  decoder_erred = decoder_erred || other.decoder_erred;
  several_threads = several_threads || other.several_threads;
  truncated = truncated || other.truncated;
  packets_late += other.packets_late;
  late_ns += other.late_ns;
  waited_ns += other.waited_ns;
  gaps += other.gaps;
  gaps_ns += other.gaps_ns;
  return *this;
}

}  // namespace saccade
