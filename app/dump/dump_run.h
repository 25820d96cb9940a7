// One input into one folder: a session on the calling thread, a writer on its own.
#pragma once

#include <cstdint>
#include <string>

#include "app/dump/meta.h"
#include "app/options/options.h"
#include "app/run_interrupt.h"

namespace saccade {

struct DumpOutcome {
  enum class Kind : std::uint8_t { kComplete, kDamaged, kInterrupted, kStopped, kSkipped } kind = Kind::kComplete;
  std::string directory;
  Json result;         // the manifest (absent facts when interrupted) and `path`
  std::string damage;  // kDamaged: what was wrong
};

// What stderr says of an interrupted run.
std::string interrupted_text(const std::string& directory, std::int64_t emissions);

// Throws Error: bad input or usage before anything was written, a failed write at any time.
DumpOutcome dump_input(const Options& options, const std::string& uri, const std::string& directory,
                       RunInterrupt& interrupt);

}  // namespace saccade
