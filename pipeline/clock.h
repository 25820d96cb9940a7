// The two clocks of this machine, in nanoseconds.
#pragma once

#include <cstdint>

namespace saccade {

std::int64_t steady_now_ns();  // never goes back; its zero means nothing

// What the system's clock is ahead of the steady one by, in ns: Unix time is that plus a moment of the steady clock.
std::int64_t unix_minus_steady_ns();

}  // namespace saccade
