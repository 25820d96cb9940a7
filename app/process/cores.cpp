#include "app/process/cores.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <string>
#include <thread>

namespace saccade {
namespace {

// Control groups, version 2: the quota of the group and of each above it, as the process sees them.
double quota() {
  double least = std::numeric_limits<double>::infinity();
  std::ifstream self("/proc/self/cgroup");
  std::string path;
  while (std::getline(self, path)) {
    if (path.starts_with("0::")) break;
  }
  path = path.starts_with("0::") ? path.substr(3) : "";
  for (;;) {
    std::ifstream file("/sys/fs/cgroup" + path + "/cpu.max");
    std::string most;
    double period = 0;
    if (file >> most >> period && most != "max" && period > 0) least = std::min(least, std::stod(most) / period);
    const std::size_t slash = path.rfind('/');
    if (path.empty() || slash == std::string::npos) return least;
    path.resize(slash);
  }
}

// std::thread::hardware_concurrency() doesn't look at the affinity since glibc 2.35.
int cores_by_affinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(CPU_COUNT(&set), 1);
  return static_cast<int>(std::max(std::thread::hardware_concurrency(), 1U));
}

}  // namespace

int usable_cores() {
  const int by_affinity = cores_by_affinity();
  const double limit = quota();
  return limit < by_affinity ? std::max(static_cast<int>(std::ceil(limit)), 1) : by_affinity;
}

}  // namespace saccade
