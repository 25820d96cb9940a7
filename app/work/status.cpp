// saccade status: how far a store is, in counts that add up, and which processes work on it.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <utility>

#include "app/commands.h"
#include "app/counted.h"
#include "app/options/options.h"
#include "app/process/exit_code.h"
#include "app/work/claim/claims.h"
#include "app/work/commit/markers.h"

namespace saccade {
namespace {

constexpr double kWindow_s = 3600;  // of the rate: before the last commit
constexpr std::size_t kReasonFiles = 200;
constexpr std::size_t kReasons = 3;

struct Commit {
  std::int64_t unix_s;
  double media_s;          // as planned
  std::string quarantine;  // a file; empty: none
};

// A heartbeat. Its age is by the times that the store gives, and only for people.
struct AliveWorker {
  std::string name, host, engine;
  double age_s;
};

std::vector<AliveWorker> alive_workers(Store& store, double expiry_s) {
  std::vector<AliveWorker> workers;
  std::vector<std::string> names;
  for (const StoreFile& file : store.files(kWorkers)) {
    const double age_s = file.age_s.value_or(0);
    if (age_s > expiry_s) continue;
    workers.push_back({file.name.substr(0, file.name.rfind('.')), {}, {}, std::max(age_s, 0.0)});
    names.push_back(heartbeat_name(workers.back().name));
  }
  store.read_many(names, [&](const std::string& name, const std::string& text) {
    const Json json = parse_json(text);
    const auto worker = std::find_if(workers.begin(), workers.end(),
                                     [&name](const auto& one) { return heartbeat_name(one.name) == name; });
    if (!json.is_object() || worker == workers.end()) return;
    worker->host = json.value("host", "");
    worker->engine = json.value("engine", "");
  });
  return workers;
}

// Hours of video an hour, of what was committed in the hour before the last commit. Null: fewer than two units.
Json hours_an_hour(const std::vector<Commit>& commits) {
  if (commits.size() < 2) return nullptr;
  const auto [first, last] = std::minmax_element(commits.begin(), commits.end(),
                                                 [](const auto& a, const auto& b) { return a.unix_s < b.unix_s; });
  const double begin = std::max(static_cast<double>(first->unix_s), static_cast<double>(last->unix_s) - kWindow_s);
  double media_s = 0;
  for (const Commit& commit : commits) media_s += static_cast<double>(commit.unix_s) > begin ? commit.media_s : 0;
  const double span_s = static_cast<double>(last->unix_s) - begin;
  return span_s > 0 ? Json(media_s / span_s) : Json(nullptr);
}

// "class: line" without the input's name -> how many, of the units that were committed last.
Json top_reasons(Store& store, std::vector<Commit> commits) {
  std::erase_if(commits, [](const Commit& commit) { return commit.quarantine.empty(); });
  std::sort(commits.begin(), commits.end(), [](const auto& a, const auto& b) { return a.unix_s > b.unix_s; });
  std::vector<std::string> names;
  for (const Commit& commit : commits) {
    if (names.size() < kReasonFiles) names.push_back(commit.quarantine);
  }
  std::map<std::string, std::pair<std::int64_t, std::string>> reasons;  // -> count, a key
  store.read_many(names, [&reasons](const std::string&, const std::string& text) {
    for (const std::string_view line : lines_of(text)) {
      const Json json = Json::parse(line, nullptr, false);
      if (!json.is_object()) continue;
      std::string what = json.value("line", "");
      const std::string uri = json.value("uri", "");
      if (!uri.empty() && what.starts_with(uri + ": ")) what.erase(0, uri.size() + 2);
      auto& [count, key] = reasons[json.value("class", "") + ": " + what];
      if (++count == 1) key = json.value("key", "");
    }
  });
  std::vector<std::pair<std::string, std::pair<std::int64_t, std::string>>> sorted(reasons.begin(), reasons.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second.first > b.second.first; });
  Json all = Json::array();
  for (std::size_t i = 0; i < std::min(kReasons, sorted.size()); ++i) {
    all.push_back({{"reason", sorted[i].first}, {"videos", sorted[i].second.first}, {"key", sorted[i].second.second}});
  }
  return all;
}

Json status_json(const Plan& plan, const StoreCounts& all, const std::vector<Commit>& commits, double expiry_s) {
  Json json = counts_json(all.counts);
  json["units"] = plan.units().size();
  json["units_done"] = all.units_done;
  json["adds_up"] = all.faults.empty();
  json["faults"] = all.faults;
  json["workers"] = Json::array();
  for (const AliveWorker& worker : alive_workers(plan.store(), expiry_s))
    json["workers"].push_back({{"host", worker.host}, {"engine", worker.engine}, {"age_s", worker.age_s}});
  std::int64_t last = 0;
  for (const Commit& commit : commits) last = std::max(last, commit.unix_s);
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const double age_s = std::chrono::duration<double>(now).count() - static_cast<double>(last);
  json["last_commit_age_s"] = commits.empty() ? Json(nullptr) : Json(age_s);
  json["hours_an_hour"] = hours_an_hour(commits);
  const double left_s = std::max(all.counts.planned_s - all.counts.ended_s, 0.0);
  const Json& rate = json.at("hours_an_hour");
  json["eta_s"] = all.counts.pending == 0          ? Json(0)
                  : rate.is_number() && rate > 0.0 ? Json(left_s / rate.get<double>())
                                                   : Json(nullptr);
  json["reasons"] = top_reasons(plan.store(), commits);
  return json;
}

void print(const std::string& store, const StoreCounts& all, const Json& json) {
  fmt::print("{}: {}\n{} of {}, {:.2f} hours of video, {}\n", store, counts_line(all.counts), all.units_done,
             counted(json.at("units"), "unit"), all.counts.media_s / 3600, counted(all.counts.frames, "frame"));
  std::map<std::string, int> hosts;
  for (const Json& worker : json.at("workers")) ++hosts[worker.at("host").get<std::string>()];
  std::string alive;
  for (const auto& [host, count] : hosts)
    alive += fmt::format("{}{}{}", alive.empty() ? " on " : ", ", host, count > 1 ? fmt::format(" ({})", count) : "");
  const Json& age_s = json.at("last_commit_age_s");
  const std::size_t count = json.at("workers").size();
  fmt::print("{} process{} at work{}{}\n", count, count == 1 ? "" : "es", alive,
             age_s.is_null() ? "" : fmt::format(", last commit {:.0f} s ago", age_s.get<double>()));
  if (json.at("hours_an_hour").is_number() && json.at("eta_s").is_number() && json.at("eta_s") > 0.0) {
    fmt::print("{:.1f} hours of video an hour, {:.1f} hours left\n", json.at("hours_an_hour").get<double>(),
               json.at("eta_s").get<double>() / 3600);
  }
  for (const Json& reason : json.at("reasons")) {
    fmt::print("{} x {} (as {})\n", reason.at("videos").get<std::int64_t>(), reason.at("reason").get<std::string>(),
               reason.at("key").get<std::string>());
  }
}

}  // namespace

int run_status(const Options& options) {
  const auto place = open_store(options.work.store);
  const std::string& store = place->place();
  const Plan plan(*place);
  std::vector<Commit> commits;
  const StoreCounts all = count_markers(plan, [&commits](const PlannedUnit& unit, const Json& marker) {
    const Json& quarantine = marker.at("quarantine");
    commits.push_back({marker.value("unix_s", std::int64_t{0}), unit.media_s,
                       quarantine.is_null() ? "" : quarantine.at("name").get<std::string>()});
  });
  const Json json = status_json(plan, all, commits, options.work.claim_s);
  if (options.json) {
    fmt::print("{}\n", json_text(json, -1));
  } else {
    print(store, all, json);
  }
  for (const std::string& fault : all.faults) fmt::print(stderr, "saccade: {}: {}\n", store, fault);
  return static_cast<int>(all.faults.empty() ? ExitCode::kOk : ExitCode::kUnexpected);
}

}  // namespace saccade
