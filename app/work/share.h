// Which of the units a process does.
#pragma once

#include <cstdint>
#include <string>

namespace saccade {

struct Share {
  std::int64_t index = 0;
  std::int64_t count = 1;
  bool has(std::int64_t unit) const { return unit % count == index; }
};

// text: "I/N", "auto" or "auto/N"; empty: what Slurm (SLURM_ARRAY_TASK_ID) or Kubernetes (JOB_COMPLETION_INDEX) says,
// else all. Throws UsageError.
Share share_of(const std::string& text);

}  // namespace saccade
