#include "app/work/claim/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "pipeline/error.h"

namespace saccade {
namespace {

constexpr double kBeatsAnExpiry = 6;

int number_of(const std::string& file) {
  const std::size_t dot = file.rfind('.');
  int number = -1;
  if (dot != std::string::npos) std::from_chars(file.data() + dot + 1, file.data() + file.size(), number);
  return number;
}

std::string claim_name(const std::string& unit, int number) { return fmt::format("{}/{}.{}", kClaims, unit, number); }

}  // namespace

std::string heartbeat_name(const std::string& worker) { return fmt::format("{}/{}.json", kWorkers, worker); }

std::string unit_of_claim(const std::string& file) { return file.substr(0, file.rfind('.')); }

std::string worker_of_claim(const std::string& text) {
  const Json json = parse_json(text);
  return json.is_object() ? json.value("worker", "") : "";
}

void remove_claims(Store& store) {
  for (const std::string& file : store.names(kClaims).value_or(std::vector<std::string>{}))
    store.remove(fmt::format("{}/{}", kClaims, file));
}

Claims::Claims(Store& store, std::string name, const Json& facts, double expiry_s)
    : store_(store), name_(std::move(name)), heartbeat_(facts), period_(expiry_s / kBeatsAnExpiry), watch_(expiry_s) {
  heartbeat_["beat"] = 0;
  put_heartbeat();
  thread_ = std::jthread([this](const std::stop_token& stop) { beat(stop); });
}

Claims::~Claims() {
  thread_.request_stop();
  thread_.join();
  try {
    while (!held_.empty()) release(std::string(held_.begin()->first));
    store_.remove(heartbeat_name(name_));
  } catch (const Error&) {  // it expires
  }
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

std::vector<std::string> Claims::free_of(const std::vector<std::string>& units) {
  last_.clear();
  for (const std::string& file : store_.names(kClaims).value_or(std::vector<std::string>{})) {
    const int number = number_of(file);
    int& last = last_.try_emplace(unit_of_claim(file), -1).first->second;
    last = std::max(last, number);
  }
  std::map<std::string, bool> dead;  // worker -> whether it is
  std::vector<std::string> free;
  for (const std::string& unit : units) {
    const auto last = last_.find(unit);
    const std::string owner = last == last_.end() ? "" : owner_of(claim_name(unit, last->second));
    if (!owner.empty() && dead.count(owner) == 0)
      dead[owner] = watch_.is_dead(owner, store_.read(heartbeat_name(owner)), std::chrono::steady_clock::now());
    if (owner.empty() || dead[owner]) free.push_back(unit);
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

void Claims::release(const std::string& unit) {
  const auto held = held_.find(unit);
  if (held == held_.end()) return;
  for (int number = std::exchange(held->second, 0); number >= 0; --number) store_.remove(claim_name(unit, number));
  held_.erase(unit);
}

}  // namespace saccade
