#include "app/work/claim/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <utility>

#include "pipeline/error.h"

namespace saccade {
namespace {

constexpr double kBeatsAnExpiry = 6;
constexpr const char* kExpiry = "claim_s";  // of a heartbeat: how long its worker wants to be waited for

std::string claim_name(const std::string& unit, int number) { return fmt::format("{}/{}.{}", kClaims, unit, number); }

}  // namespace

std::string heartbeat_name(const std::string& worker) { return fmt::format("{}/{}.json", kWorkers, worker); }

std::string unit_of_claim(const std::string& file) { return file.substr(0, file.rfind('.')); }

int number_of_claim(const std::string& file) {
  const std::size_t dot = file.rfind('.');
  int number = -1;
  if (dot != std::string::npos) std::from_chars(file.data() + dot + 1, file.data() + file.size(), number);
  return number;
}

std::string worker_of_claim(const std::string& text) {
  const Json json = parse_json(text);
  return json.is_object() ? json.value("worker", "") : "";
}

bool remove_or_leave(Store& store, const std::string& name) {
  static std::atomic_flag logged;
  try {
    store.remove(name);
    return true;
  } catch (const Error& error) {
    if (!logged.test_and_set())
      fmt::print(stderr, "saccade: {}; claims and heartbeats stay there, and `saccade gc` removes them\n",
                 error.what());
    return false;
  }
}

void remove_claims(Store& store) {
  for (const std::string& file : store.names(kClaims).value_or(std::vector<std::string>{})) {
    if (!remove_or_leave(store, fmt::format("{}/{}", kClaims, file))) return;
  }
}

Claims::Claims(Store& store, std::string name, const Json& facts, double expiry_s)
    : store_(store), name_(std::move(name)), heartbeat_(facts), period_(expiry_s / kBeatsAnExpiry), watch_(expiry_s) {
  heartbeat_["beat"] = 0;
  heartbeat_[kExpiry] = expiry_s;
  put_heartbeat();
  thread_ = std::jthread([this](const std::stop_token& stop) { beat(stop); });
}

Claims::~Claims() {
  thread_.request_stop();
  thread_.join();
  for (bool goes_on = true; goes_on && !held_.empty();) goes_on = release(std::string(held_.begin()->first));
  if (held_.empty()) remove_or_leave(store_, heartbeat_name(name_));
}

void Claims::put_heartbeat() { store_.put(heartbeat_name(name_), json_text(heartbeat_, -1) + "\n"); }

void Claims::beat(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!tick_.wait_for(lock, stop, period_, [&stop] { return stop.stop_requested(); })) {
    heartbeat_["beat"] = heartbeat_.at("beat").get<std::int64_t>() + 1;
    try {
      put_heartbeat();
    } catch (const Error&) {  // a store that fails for long is reported by whoever needs it
    }
  }
}

std::string Claims::owner_of(const std::string& claim) {
  const auto known = owners_.find(claim);
  if (known != owners_.end()) return known->second;
  const auto text = store_.read(claim);
  if (!text) return {};
  return owners_[claim] = worker_of_claim(*text);
}

// Whether the worker of a unit's last claim is dead. A living worker may have created a claim of the same name since
// this process read it, so a known claim is read again before it is taken over. `dead`: what this look found so far.
bool Claims::may_take_over(const std::string& claim, std::map<std::string, bool>& dead) {
  const auto is_free = [&](const std::string& owner) {
    // This process does not hold the unit. If the claim is its own, the store's answer to take() was lost.
    if (owner.empty() || owner == name_) return true;
    if (dead.count(owner) == 0) {
      const auto heartbeat = store_.read(heartbeat_name(owner));
      const Json json = parse_json(heartbeat.value_or(""));
      const double its_s = json.is_object() ? json.value(kExpiry, 0.0) : 0;
      dead[owner] = watch_.is_dead(owner, heartbeat, std::chrono::steady_clock::now(), its_s);
    }
    return dead[owner];
  };
  const bool known = owners_.count(claim) != 0;
  if (!is_free(owner_of(claim))) return false;
  if (!known) return true;
  owners_.erase(claim);
  return is_free(owner_of(claim));
}

std::vector<std::string> Claims::free_of(const std::vector<std::string>& units) {
  last_.clear();
  for (const std::string& file : store_.names(kClaims).value_or(std::vector<std::string>{})) {
    const int number = number_of_claim(file);
    int& last = last_.try_emplace(unit_of_claim(file), -1).first->second;
    last = std::max(last, number);
  }
  std::map<std::string, bool> dead;  // worker -> whether it is
  std::vector<std::string> free;
  for (const std::string& unit : units) {
    const auto last = last_.find(unit);
    if (last == last_.end() || may_take_over(claim_name(unit, last->second), dead)) free.push_back(unit);
  }
  return free;
}

bool Claims::take(const std::string& unit) {
  const auto last = last_.find(unit);
  const int number = last == last_.end() ? 0 : last->second + 1;
  const std::string text = json_text({{"worker", name_}}, -1) + "\n";
  if (!store_.create(claim_name(unit, number), text, Store::Lasting::kNo)) return false;
  held_[unit] = number;
  return true;
}

bool Claims::release(const std::string& unit) {
  const auto held = held_.find(unit);
  if (held == held_.end()) return true;
  bool removed = true;
  for (int number = held->second; removed && number >= 0; --number)
    removed = remove_or_leave(store_, claim_name(unit, number));
  held_.erase(held);
  return removed;
}

}  // namespace saccade
