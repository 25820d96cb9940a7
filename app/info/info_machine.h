// What this machine is: for `info`, and for the reports that numbers belong to.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace saccade {

struct CpuFacts {
  std::string name;  // as the kernel tells it; "unknown" when it does not
  int threads = 0;   // that this process may use: usable_cores()
};
CpuFacts cpu_facts();
std::int64_t memory_bytes();         // of the machine
std::int64_t peak_resident_bytes();  // of this process, so far

// A place where the pixel work, or the decoding, can run.
struct Availability {
  std::string name;  // "cpu", "gl", "cuda"
  bool available = false;
  std::string detail;  // what it is, or why it is not there
};
std::vector<Availability> backends();
std::vector<Availability> hardware_decoders();

}  // namespace saccade
