#include "app/work/commit/markers.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/work/commit/marker_file.h"
#include "pipeline/error.h"

namespace saccade {
namespace {

std::int64_t count_of(const Json& marker, const char* name) {
  const auto found = marker.find(name);
  return found != marker.end() && found->is_number_integer() ? found->get<std::int64_t>() : -1;
}

std::string text_of(const Json& marker, const char* name) {
  const auto found = marker.find(name);
  return found != marker.end() && found->is_string() ? found->get<std::string>() : "";
}

// Null, or a file with all that is said of one.
bool is_part(const Json& marker, const char* name) {
  const auto part = marker.find(name);
  if (part == marker.end()) return false;
  if (part->is_null()) return true;
  return part->is_object() && !text_of(*part, "name").empty() && !text_of(*part, "sha256").empty() &&
         count_of(*part, "bytes") >= 0;
}

std::string marker_fault(const Plan& plan, const PlannedUnit* unit, const Json& marker) {
  if (!marker.is_object() || text_of(marker, "format") != "saccade-commit") return "is damaged or cut short";
  if (unit == nullptr) return "names a unit that is not in the plan";
  if (text_of(marker, "plan") != plan.hash()) return "is of another plan";
  if (text_of(marker, "unit") != unit->name) return "names another unit";
  const std::int64_t items = count_of(marker, "items"), done = count_of(marker, "done"),
                     damaged = count_of(marker, "damaged"), bad = count_of(marker, "quarantined");
  if (items != unit->items) return fmt::format("counts {} items, the plan {}", items, unit->items);
  if (done < 0 || damaged < 0 || bad < 0 || done + damaged + bad != items) {
    return fmt::format("does not add up: {} items, {} done, {} damaged, {} quarantined", items, done, damaged, bad);
  }
  for (const char* part : {"shard", "index", "quarantine"}) {
    if (!is_part(marker, part)) return fmt::format("says nothing of its {}", part);
  }
  return {};
}

}  // namespace

std::string marker_refusal(const Plan& plan, const PlannedUnit* unit, const Json& marker) {
  const std::string fault = marker_fault(plan, unit, marker);
  if (fault.empty()) return fault;
  const std::string of = marker.is_object() ? text_of(marker, "plan") : "";
  const bool foreign = !of.empty() && of != plan.hash();
  if (unit == nullptr && !foreign) return fault + "; remove it";
  return fault + (foreign ? "; use a store of its own" : "; remove it, and `work` does the unit again");
}

std::optional<Json> sound_marker(const Plan& plan, const PlannedUnit& unit) {
  std::optional<Json> marker = read_marker(plan.store(), unit.name);
  if (!marker) return marker;
  if (const std::string fault = marker_refusal(plan, &unit, *marker); !fault.empty()) {
    plan.check_content();
    throw UsageError(fmt::format("{}: commits/{}.json: {}", plan.store().place(), unit.name, fault));
  }
  return marker;
}

void add_marker(Counts& counts, const PlannedUnit& unit, const Json& marker) {
  counts.done += count_of(marker, "done");
  counts.damaged += count_of(marker, "damaged");
  counts.quarantined += count_of(marker, "quarantined");
  counts.pending -= unit.items;
  counts.ended_s += unit.media_s;
  counts.frames += std::max<std::int64_t>(count_of(marker, "frames"), 0);
  const auto media_s = marker.find("media_s");
  if (media_s != marker.end() && media_s->is_number()) counts.media_s += media_s->get<double>();
  const auto classes = marker.find("classes");
  if (classes == marker.end() || !classes->is_object()) return;
  for (const auto& [kind, count] : classes->items()) {
    if (count.is_number_integer()) counts.classes[kind] += count.get<std::int64_t>();
  }
}

StoreCounts count_markers(const Plan& plan, const EachMarker& each) {
  StoreCounts all;
  Counts& counts = all.counts;
  counts.in = plan.count("in");
  counts.duplicate = plan.count("duplicates");
  counts.pending = plan.count("items");
  counts.planned_s = plan.facts().at("media_s");
  std::vector<std::string> names = committed_units(plan.store());
  for (std::string& name : names) name = marker_name(name);
  plan.store().read_many(names, [&](const std::string& name, const std::string& text) {
    const PlannedUnit* unit = plan.find(unit_of_marker(name));
    const Json marker = marker_of(text);
    const std::string fault = marker_refusal(plan, unit, marker);
    if (!fault.empty()) return all.faults.push_back(fmt::format("{}: {}", name, fault));
    ++all.units_done;
    add_marker(counts, *unit, marker);
    if (each) each(*unit, marker);
  });
  if (!all.faults.empty()) {
    if (const std::string fault = plan.content_fault(); !fault.empty()) all.faults = {fault};
  }
  const std::int64_t sum = counts.done + counts.damaged + counts.quarantined + counts.duplicate + counts.pending;
  if (sum != counts.in) all.faults.push_back(fmt::format("{} in, but {} accounted for", counts.in, sum));
  return all;
}

}  // namespace saccade
