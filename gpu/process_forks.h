// Whether a process is still the one in which something was made.
#pragma once

#include <cstdint>

namespace saccade {

// How many forks lie between this process and the one that asked first. Threads, devices and locks don't live on in a
// child, so what was made at another count can't be used. Any thread; costs a read.
std::uint32_t process_forks();

}  // namespace saccade
