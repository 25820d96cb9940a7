// A warning that strangers can cause as often as they like.
#pragma once

#include <cstdint>
#include <string>

namespace saccade::ui {

// The first one is for the log at once. Those that follow within a minute are counted, and the count is one line after
// it. One thread's; times are of the steady clock.
class RepeatedWarning {
 public:
  // What to log now; empty: nothing yet.
  std::string came(std::string line, std::int64_t now_ns);
  // What waits and is due. `last`: all that waits, for nothing comes after.
  std::string due(std::int64_t now_ns, bool last = false);

 private:
  std::string line_;  // the newest
  std::int64_t said_ns_ = 0, waiting_ = 0;
  bool said_ = false;
};

}  // namespace saccade::ui
