// attempts/: what is being worked on, a folder a process. It lies in the store, or for a bucket on this machine.
#pragma once

#include <string>
#include <vector>

namespace saccade {

// Made and locked by the constructor, removed with all it holds by the destructor. Throws Error of kOutput.
class Attempt {
 public:
  explicit Attempt(const std::string& root);  // Store::scratch_root()
  ~Attempt();
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;
  const std::string& path() const { return path_; }
  const std::string& name() const { return name_; }
  void touch() const;  // says that it lives, to gc on other hosts

 private:
  std::string name_;
  std::string path_;
  int lock_ = -1;
};

struct Sweep {
  bool others = false;      // also attempts of other hosts that were not touched for
  double older_than_s = 0;  // so long
  bool dry_run = false;     // remove nothing
};
// Removes the attempts that no process works on, of this host those that nobody locks. Returns their names. Throws
// Error of kOutput where they can't be read.
std::vector<std::string> sweep_attempts(const std::string& root, const Sweep& sweep = {});

}  // namespace saccade
