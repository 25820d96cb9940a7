// Which process works on which unit. docs/STORE.md has the files.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "app/json/json_file.h"
#include "app/work/claim/watch.h"
#include "app/work/store/store.h"

namespace saccade {

// Note [Claims]
// claims/U.N names the worker that has unit U. It is created exclusively, so of two that come at once one has the unit.
// Where the worker of the last claim is dead, the next claim, U.(N+1), is created in the same way: a claim is never
// removed to be taken over, so of two watchers, too, only one gets it. A claim saves work, and nothing depends on it: a
// worker that stood still past its expiry, and comes back, finds the unit's marker when it commits, and drops its own.
//
// A heartbeat is put by a thread of its own. All other calls from one thread. Errors of the store as of `Store`.
class Claims {
 public:
  // name: no other process has it. facts: what the heartbeat says beside its count.
  Claims(Store& store, std::string name, const Json& facts, double expiry_s);
  ~Claims();  // removes the claims that are held, then the heartbeat
  Claims(const Claims&) = delete;
  Claims& operator=(const Claims&) = delete;

  // Looks at all claims, and at the heartbeats of those who hold `units`. Returns the units that may be taken: without
  // a claim, or with a dead worker's. None of `units` may be held.
  std::vector<std::string> free_of(const std::vector<std::string>& units);
  bool take(const std::string& unit);     // false: another one was first
  bool release(const std::string& unit);  // false: the claim stays in the store
  const std::string& name() const { return name_; }

 private:
  void beat(const std::stop_token& stop);
  void put_heartbeat();
  bool may_take_over(const std::string& claim, std::map<std::string, bool>& dead);
  std::string owner_of(const std::string& claim);  // empty: the claim is gone

  Store& store_;
  const std::string name_;
  Json heartbeat_;
  const std::chrono::duration<double> period_;
  Watch watch_;
  std::map<std::string, int> last_;            // unit -> its last claim that was seen
  std::map<std::string, int> held_;            // unit -> the claim that this process has
  std::map<std::string, std::string> owners_;  // claim -> worker
  std::mutex mutex_;
  std::condition_variable_any tick_;
  std::jthread thread_;  // last
};

inline constexpr const char* kClaims = "claims";
inline constexpr const char* kWorkers = "workers";
void remove_claims(Store& store);  // once all units have markers
// Removes a claim or a heartbeat. False: it can't be removed, and expires. The first one is logged.
bool remove_or_leave(Store& store, const std::string& name);
std::string heartbeat_name(const std::string& worker);  // "workers/NAME.json"
std::string unit_of_claim(const std::string& file);     // of "U.N"
int number_of_claim(const std::string& file);           // N; -1: none
std::string worker_of_claim(const std::string& text);   // that its bytes name; empty: none

}  // namespace saccade
