#include "kernels/tensor/cpu/parallel.h"

#include <dlfcn.h>
#include <pthread.h>

#include <fstream>
#include <sstream>
#include <string>

namespace saccade::tensor::cpu {
namespace {

std::atomic<bool> is_child{false};

// Whether this process was forked and has not called exec() since: PF_FORKNOEXEC of flags, the seventh field behind the
// name in /proc/self/stat. Assumed where it can't be read.
bool was_forked() {
  constexpr unsigned kForkNoExec = 0x40;
  std::ifstream stat("/proc/self/stat");
  std::string text;
  std::getline(stat, text);
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return true;
  std::istringstream fields(text.substr(name_end + 1));
  std::string skipped;
  for (int field = 0; field < 6; ++field) fields >> skipped;
  unsigned flags = kForkNoExec;
  fields >> flags;
  return (flags & kForkNoExec) != 0;
}

// From the first call on, forks are noticed when they happen.
bool watch_forks() {
  is_child = was_forked();
  return pthread_atfork(nullptr, nullptr, [] { is_child = true; }) == 0;
}

}  // namespace

Team process_team() {
  static const bool watched = watch_forks();
  if (!watched || is_child) return {};
  // torch may be loaded later: looked for again until it is there
  static std::atomic<void*> call{nullptr};
  static std::atomic<void*> most_threads{nullptr};
  if (call == nullptr) {
    most_threads = dlsym(RTLD_DEFAULT, "omp_get_max_threads");
    if (most_threads != nullptr) call = dlsym(RTLD_DEFAULT, "GOMP_parallel");
  }
  if (call == nullptr) return {};
  Team team;
  team.call = reinterpret_cast<decltype(team.call)>(call.load());
  team.most_threads = reinterpret_cast<decltype(team.most_threads)>(most_threads.load());
  return team;
}

}  // namespace saccade::tensor::cpu
