// The folder a dump goes to: what lies there, and what may be done about it.
#pragma once

#include <string>

#include "app/json/json_file.h"
#include "app/options/options.h"

namespace saccade {

enum class TargetAction : std::uint8_t {
  kWrite,  // prepare_target(), then write
  kSkip,   // --resume: the dump is there and complete
};

// Keeps other runs out of a folder while it lives: two writers would mix their arrays and manifests. By flock, which
// the kernel gives back however a run ends; where a file system has none, nothing is kept out.
class TargetLock {
 public:
  TargetLock() = default;
  ~TargetLock();
  TargetLock(const TargetLock&) = delete;
  TargetLock& operator=(const TargetLock&) = delete;
  // Nothing where there is no such folder yet, or when it is held already. Throws UsageError: another run has it.
  void take(const std::string& directory);
  bool held() const { return fd_ >= 0; }
  // Where the folder that is held lies now, should somebody have renamed or moved it: else `directory` itself.
  std::string where(const std::string& directory) const;

 private:
  int fd_ = -1;
};

// Looks, changes nothing. `identity` is what meta_identity() says of the dump to be made. Throws UsageError that names
// the folder and --overwrite or --resume; a folder that holds something else than a dump is refused in any case.
TargetAction decide_target(const std::string& directory, const DumpOptions& options, const Json& identity);

// Makes the folder and its parents, locks it, and takes an old dump's own files out of it: its manifest first. Throws
// Error, and UsageError where another run was quicker.
void prepare_target(const std::string& directory, const DumpOptions& options, TargetLock& lock);

}  // namespace saccade
