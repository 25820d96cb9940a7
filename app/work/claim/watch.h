// Which workers are alive, by the clock of this process alone. Pure: no files, the time is given.
#pragma once

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <string>

namespace saccade {

// Note [Heartbeats]
// Each worker puts its heartbeat again and again, each time with other bytes. Clocks of two hosts are never compared: a
// watcher measures how long it has seen the same bytes. After `expiry_s` of its own time the worker is dead to it, or
// after the worker's own expiry where that is longer: it beats more slowly. It is dead at once where the heartbeat is
// gone: a worker removes it after its claims.
class Watch {
 public:
  using Time = std::chrono::steady_clock::time_point;
  explicit Watch(double expiry_s) : expiry_(expiry_s) {}
  // heartbeat: its bytes now; none: there is no such file. workers_s: the worker's own expiry.
  bool is_dead(const std::string& worker, const std::optional<std::string>& heartbeat, Time now, double workers_s = 0) {
    if (!heartbeat) return true;
    Seen& seen = seen_[worker];
    if (seen.bytes != *heartbeat) seen = {*heartbeat, now};
    return now - seen.since >= std::max(expiry_, std::chrono::duration<double>(workers_s));
  }

 private:
  struct Seen {
    std::string bytes;
    Time since;
  };
  const std::chrono::duration<double> expiry_;
  std::map<std::string, Seen> seen_;
};

}  // namespace saccade
