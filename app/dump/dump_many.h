// `dump` of several inputs at a time.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/dump/dump_task.h"

namespace saccade {

struct DumpTarget {
  std::string uri;
  std::string directory;
};

// Runs them, `jobs` at a time. on_end: one at a time, in the order in which they end. Returning false: no other begins.
void dump_many(const Options& options, const std::vector<DumpTarget>& targets, int jobs, RunInterrupt& interrupt,
               const std::function<bool(const DumpTarget&, const DumpEnd&)>& on_end);

}  // namespace saccade
