// The folder a dump goes to: what lies there, and what may be done about it.
#pragma once

#include <string>

#include "app/meta.h"

namespace saccade {

enum class TargetAction : std::uint8_t {
  kWrite,  // prepare_target(), then write
  kSkip,   // --resume: the dump is there and complete
};

// Looks, changes nothing. `identity` is what meta_identity() says of the dump to be made. Throws UsageError that names
// the folder and --overwrite or --resume; a folder that holds something else than a dump is refused in any case.
TargetAction decide_target(const std::string& directory, const DumpOptions& options, const Json& identity);

// Makes the folder and its parents, and takes an old dump's own files out of it: its manifest first. Throws Error.
void prepare_target(const std::string& directory);

}  // namespace saccade
