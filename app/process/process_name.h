// A name that no other process has, and from which it can be told whether the process lives.
#pragma once

#include <string>

namespace saccade {

std::string host_name();     // '/' and '.' in it become '-'
std::string process_name();  // HOST.PID.START: START in clock ticks since boot

}  // namespace saccade
