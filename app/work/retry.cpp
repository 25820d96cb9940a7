// saccade retry: plans again what was given up, into a store of its own.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "app/commands.h"
#include "app/counted.h"
#include "app/exit_code.h"
#include "app/options/options.h"
#include "app/read_file.h"
#include "app/sha256.h"
#include "app/work/markers.h"
#include "app/work/plan/input_facts.h"
#include "app/work/plan/make_plan.h"
#include "app/work/plan/plan_writer.h"
#include "pipeline/error.h"
#include "pipeline/options/values.h"

namespace saccade {
namespace {

std::vector<WorkItem> given_up(const Plan& plan, const std::string& store, const std::vector<std::string>& classes) {
  std::vector<WorkItem> items;
  const auto take = [&](const PlannedUnit& unit, const Json& marker) {
    if (marker.at("quarantine").is_null()) return;
    const Json& file = marker.at("quarantine");
    const std::string name = file.at("name");
    const auto text = read_file(store + "/" + name);
    if (!text || sha256_of(*text) != file.at("sha256").get<std::string>()) {
      throw UsageError(fmt::format("{}/{}: is {}; see `saccade verify`", store, name, text ? "damaged" : "missing"));
    }
    std::map<std::string, std::string> wanted;  // key -> class
    for (const std::string_view line : lines_of(*text)) {
      const Json json = Json::parse(line);
      if (classes.empty() || std::find(classes.begin(), classes.end(), json.value("class", "")) != classes.end()) {
        wanted.emplace(json.value("key", ""), json.value("class", ""));
      }
    }
    for (WorkItem& item : plan.items(unit)) {
      const auto found = wanted.find(item.key);
      if (found == wanted.end()) continue;
      const Json now = input_facts(item.uri, Json::object());
      if (!now.is_null() || found->second == kChanged) item.input = now;
      items.push_back(std::move(item));
    }
  };
  const StoreCounts all = count_markers(plan, store, take);
  if (!all.faults.empty()) throw UsageError(fmt::format("{}: {}; see `saccade status`", store, all.faults.front()));
  std::stable_sort(items.begin(), items.end(),
                   [](const WorkItem& a, const WorkItem& b) { return a.media_s > b.media_s; });
  return items;
}

}  // namespace

int run_retry(const Options& options) {
  const std::string& store = options.work.store;
  const std::string& target = options.dump.output;
  const Plan plan(store);
  plan.check_content();
  const auto classes = options.work.classes.empty() ? std::vector<std::string>{} : split(options.work.classes, ',');
  const std::vector<WorkItem> items = given_up(plan, store, classes);
  if (items.empty()) {
    if (options.json) {
      fmt::print("{}\n", json_text({{"made", false}, {"items", 0}, {"units", 0}}, -1));
    } else {
      fmt::print("{}: nothing was given up{}; no plan was made\n", store,
                 classes.empty() ? "" : " of class " + options.work.classes);
    }
    return static_cast<int>(ExitCode::kOk);
  }
  if (Plan::exists(target)) throw UsageError(OfOption("output", target), "holds a plan already; choose another -o");
  refuse_other_folder(target);
  Json facts = plan.facts();
  PlanWriter writer(target, facts.at("unit_s"), facts.at("unit_bytes"), facts.value("bytes_per_s", 0.0));
  for (const WorkItem& item : items) writer.add(item);
  facts["duplicates"] = 0;
  facts["retry_of"] = {{"plan", plan.hash()}, {"store", store}};
  if (!writer.finish(facts))
    throw UsageError(OfOption("output", target), "another run planned there meanwhile; choose another -o");
  const Plan made(target);
  if (options.json) {
    Json result = made.facts();
    result["path"] = target;
    result["made"] = true;
    fmt::print("{}\n", json_text(result, -1));
  } else {
    fmt::print("{}: {} in {}, to try again\n", target, counted(made.count("items"), "item"),
               counted(made.count("units"), "unit"));
  }
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace saccade
