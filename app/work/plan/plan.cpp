#include "app/work/plan/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/read_file.h"
#include "app/sha256.h"
#include "app/version.h"
#include "pipeline/error.h"

namespace saccade {
namespace {

constexpr const char* kWayBack = "put plan/ back from a copy, or plan again, into another STORE";

// A loss of power leaves a file without bytes, or with zeros in place of them.
bool is_lost(const std::string& text) { return text.empty() || text[0] == 0; }

[[noreturn]] void refuse(const std::string& store, const std::string& fault) {
  throw UsageError(fmt::format("{}: {}", store, fault));
}

}  // namespace

std::string plan_hash(const std::string& items_sha256, const std::string& units_sha256, const Json& facts) {
  return sha256_of("saccade-plan 1\n" + items_sha256 + "\n" + units_sha256 + "\n" + line_of(facts.at("options")) +
                   line_of(facts.at("settings")));
}

std::string unit_name(std::int64_t index) { return fmt::format("{:08}", index); }

OptionTexts texts_of(const Json& object) {
  OptionTexts texts;
  for (const auto& [key, text] : object.items()) texts.emplace_back(key, text.get<std::string>());
  return texts;
}

Json json_of(const OptionTexts& texts) {
  Json object = Json::object();
  for (const auto& [key, text] : texts) object[key] = text;
  return object;
}

bool Plan::exists(const std::string& store) {
  const auto first = read_file(store + "/plan/plan.json", 0, 1);
  return first && !is_lost(*first);
}

bool Plan::is_empty(const std::string& store) {
  const auto first = read_file(store + "/plan/plan.json", 0, 1);
  return first && is_lost(*first);
}

Plan::Plan(const std::string& store) : store_(store) {
  const auto text = read_file(store + "/plan/plan.json");
  if (!text || is_lost(*text)) refuse(store, "holds no plan; make one by `saccade plan MANIFEST -o STORE`");
  facts_ = parse_json(*text);
  if (!facts_.is_object()) refuse(store, fmt::format("plan/plan.json is damaged: it is not JSON; {}", kWayBack));
  try {
    if (facts_.at("format") != "saccade-plan" || facts_.at("schema") != 1) {
      refuse(store, "plan/plan.json is not a plan that this program reads; was it made by a newer one?");
    }
    hash_ = facts_.at("hash");
    run_options();
    for (const char* name : {"in", "items", "units", "duplicates"}) count(name);
    const auto lines = read_file(store + "/plan/units.jsonl");
    if (!lines) refuse(store, fmt::format("plan/units.jsonl is missing; {}", kWayBack));
    units_.reserve(static_cast<std::size_t>(count("units")));
    for (const std::string_view line : lines_of(*lines)) {
      const Json json = Json::parse(line);
      units_.push_back({json.at("unit"), json.at("offset"), json.at("bytes"), json.at("items"), json.at("media_s")});
    }
    if (static_cast<std::int64_t>(units_.size()) != count("units")) {
      refuse(store, fmt::format("plan/units.jsonl is cut short; {}", kWayBack));
    }
  } catch (const Json::exception& error) {
    refuse(store, fmt::format("the plan is damaged: {}; {}", error.what(), kWayBack));
  }
}

OptionTexts Plan::run_options() const {
  OptionTexts texts = texts_of(facts_.at("options"));
  for (auto& text : texts_of(facts_.at("settings"))) texts.push_back(std::move(text));
  return texts;
}

const PlannedUnit* Plan::find(const std::string& unit) const {
  const auto found = std::lower_bound(units_.begin(), units_.end(), unit,
                                      [](const PlannedUnit& a, const std::string& b) { return a.name < b; });
  return found != units_.end() && found->name == unit ? &*found : nullptr;
}

std::vector<WorkItem> Plan::items(const PlannedUnit& unit) const {
  const auto text = read_file(store_ + "/plan/items.jsonl", unit.offset, unit.bytes);
  if (!text) refuse(store_, fmt::format("plan/items.jsonl is missing; {}", kWayBack));
  if (text->size() < unit.bytes) refuse(store_, fmt::format("plan/items.jsonl is cut short; {}", kWayBack));
  std::vector<WorkItem> items;
  try {
    for (const std::string_view line : lines_of(*text)) items.push_back(item_of(Json::parse(line)));
  } catch (const Json::exception& error) {
    refuse(store_, fmt::format("the plan is damaged: unit {}: {}; {}", unit.name, error.what(), kWayBack));
  }
  if (static_cast<std::int64_t>(items.size()) != unit.items)
    refuse(store_, fmt::format("plan/items.jsonl does not fit units.jsonl; {}", kWayBack));
  return items;
}

std::string Plan::content_fault() const {
  const auto items = hash_file(store_ + "/plan/items.jsonl"), units = hash_file(store_ + "/plan/units.jsonl");
  if (!items || !units) return fmt::format("plan/{}.jsonl is missing; {}", items ? "units" : "items", kWayBack);
  if (plan_hash(*items, *units, facts_) == hash_) return {};
  return fmt::format(
      "plan/items.jsonl, units.jsonl and plan.json do not belong together: their hash is another one "
      "than plan.json says; they were changed after `plan`: {}",
      kWayBack);
}

void Plan::check_content() const {
  if (const std::string fault = content_fault(); !fault.empty()) refuse(store_, fault);
}

void Plan::check_version() const {
  if (facts_.at("saccade") == version()) return;
  refuse(store_, fmt::format("was planned by saccade {}, this is {}: bytes may differ; use that version, or plan again",
                             facts_.at("saccade").get<std::string>(), version()));
}

}  // namespace saccade
