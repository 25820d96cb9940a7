// saccade retry: plans again what was quarantined, into a store of its own, or has the same store do it again.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "app/commands.h"
#include "app/counted.h"
#include "app/files/sha256.h"
#include "app/options/options.h"
#include "app/process/exit_code.h"
#include "app/work/commit/marker_file.h"
#include "app/work/commit/markers.h"
#include "app/work/plan/input_facts.h"
#include "app/work/plan/make_plan.h"
#include "app/work/plan/plan_writer.h"
#include "pipeline/error.h"
#include "pipeline/options/values.h"

namespace saccade {
namespace {

struct Quarantined {
  std::vector<WorkItem> items;
  std::set<std::string> units;  // that hold them
};

Quarantined quarantined(const Plan& plan, const std::vector<std::string>& classes) {
  Store& store = plan.store();
  Quarantined all_found;
  std::vector<WorkItem>& items = all_found.items;
  const auto take = [&](const PlannedUnit& unit, const Json& marker) {
    if (marker.at("quarantine").is_null()) return;
    const Json& file = marker.at("quarantine");
    const std::string name = file.at("name");
    const auto text = store.read(name);
    if (!text || sha256_of(*text) != file.at("sha256").get<std::string>()) {
      throw UsageError(fmt::format("{}: is {}; see `saccade verify`", store.path(name), text ? "damaged" : "missing"));
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
      all_found.units.insert(unit.name);
    }
  };
  const StoreCounts all = count_markers(plan, take);
  if (!all.faults.empty())
    throw UsageError(fmt::format("{}: {}; see `saccade status`", store.place(), all.faults.front()));
  std::stable_sort(items.begin(), items.end(),
                   [](const WorkItem& a, const WorkItem& b) { return a.media_s > b.media_s; });
  return all_found;
}

// Without their markers `work` does the units again. What these named is left to `gc`.
int retry_in_place(const Options& options, Store& store, const Quarantined& found) {
  for (const std::string& unit : found.units) store.remove(marker_name(unit));
  const auto items = static_cast<std::int64_t>(found.items.size()),
             units = static_cast<std::int64_t>(found.units.size());
  if (options.json) {
    fmt::print("{}\n", json_text({{"made", false}, {"items", items}, {"units", units}}, -1));
  } else {
    fmt::print("{}: {} with {} to try again are pending; `saccade work` does them\n", store.place(),
               counted(units, "unit"), counted(items, "item"));
  }
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace

int run_retry(const Options& options) {
  const auto place = open_store(options.work.store);
  const std::string& store = place->place();
  const Plan plan(*place);
  plan.check_content();
  const auto classes = options.work.classes.empty() ? std::vector<std::string>{} : split(options.work.classes, ',');
  const Quarantined found = quarantined(plan, classes);
  const std::vector<WorkItem>& items = found.items;
  if (items.empty()) {
    if (options.json) {
      fmt::print("{}\n", json_text({{"made", false}, {"items", 0}, {"units", 0}}, -1));
    } else {
      fmt::print("{}: nothing was quarantined{}\n", store, classes.empty() ? "" : " of class " + options.work.classes);
    }
    return static_cast<int>(ExitCode::kOk);
  }
  if (options.work.in_place) return retry_in_place(options, *place, found);
  const auto target_store = open_store(options.dump.output);
  const std::string& target = target_store->place();
  if (Plan::exists(*target_store))
    throw UsageError(OfOption("output", target), "holds a plan already; choose another -o");
  refuse_other_folder(*target_store);
  Json facts = plan.facts();
  PlanWriter writer(*target_store, facts.at("unit_s"), facts.at("unit_bytes"), facts.value("bytes_per_s", 0.0));
  for (const WorkItem& item : items) writer.add(item);
  facts["duplicates"] = 0;
  facts["retry_of"] = {{"plan", plan.hash()}, {"store", store}};
  if (!writer.finish(facts))
    throw UsageError(OfOption("output", target), "another run planned there meanwhile; choose another -o");
  const Plan made(*target_store);
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
