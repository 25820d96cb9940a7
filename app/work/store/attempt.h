// STORE/attempts: what is being worked on, a folder a process.
#pragma once

#include <cstdint>
#include <string>

namespace saccade {

// Made and locked by the constructor, removed with all it holds by the destructor. Throws Error of kOutput.
class Attempt {
 public:
  explicit Attempt(const std::string& store);
  ~Attempt();
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;
  const std::string& path() const { return path_; }
  const std::string& name() const { return name_; }
  void touch() const;     // says that it lives, to gc on other hosts
  bool is_alone() const;  // the store holds no other attempt

 private:
  std::string name_;
  std::string path_;
  int lock_ = -1;
};

// Removes attempts that no process works on: of this host those that nobody locks; of others, where `others` is set,
// those that were not touched for so long. Returns how many.
std::int64_t sweep_attempts(const std::string& store, bool others = false, double older_than_s = 0);

}  // namespace saccade
