// Where in the plan a process begins: a hint, so that many that start at once do not meet at the same unit.
#pragma once

#include <cstdint>
#include <string>

namespace saccade {

struct Share {
  std::int64_t index = 0;
  std::int64_t count = 1;
};

// text: "I/N", I from 0. Throws UsageError.
Share share_of(const std::string& text);

}  // namespace saccade
