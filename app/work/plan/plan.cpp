#include "app/work/plan/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <fstream>

#include "app/input_identity.h"
#include "app/sha256.h"
#include "app/version.h"
#include "pipeline/error.h"

namespace saccade {
namespace {

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
  std::error_code ignored;
  return std::filesystem::exists(store + "/plan/plan.json", ignored) && !is_empty(store);
}

// A loss of power leaves a file without bytes, or with zeros in place of them.
bool Plan::is_empty(const std::string& store) {
  std::ifstream file(store + "/plan/plan.json", std::ios::binary);
  if (!file) return false;
  char first = 0;
  return file.get(first) ? first == 0 : file.eof();
}

Plan::Plan(const std::string& store) : store_(store), facts_(read_json(store + "/plan/plan.json")) {
  if (!facts_.is_object() && exists(store)) {
    refuse(store, "plan/plan.json can't be read; remove STORE/plan, and plan again by the same command");
  }
  if (!facts_.is_object()) refuse(store, "holds no plan; make one by `saccade plan MANIFEST -o STORE`");
  try {
    if (facts_.at("format") != "saccade-plan" || facts_.at("schema") != 1) {
      refuse(store, "plan/plan.json is no plan that this program reads; was it made by a newer one?");
    }
    hash_ = facts_.at("hash");
    std::ifstream file(store + "/plan/units.jsonl");
    units_.reserve(static_cast<std::size_t>(count("units")));
    for (std::string line; std::getline(file, line);) {
      const Json json = Json::parse(line);
      units_.push_back({json.at("unit"), json.at("offset"), json.at("bytes"), json.at("items"), json.at("media_s")});
    }
    if (static_cast<std::int64_t>(units_.size()) != count("units")) {
      refuse(store, "plan/units.jsonl is cut short; plan again");
    }
  } catch (const Json::exception& error) {
    refuse(store, fmt::format("the plan is damaged: {}; plan again", error.what()));
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
  std::ifstream file(store_ + "/plan/items.jsonl", std::ios::binary);
  file.seekg(static_cast<std::streamoff>(unit.offset));
  std::string text(unit.bytes, 0);
  if (!file.read(text.data(), static_cast<std::streamsize>(text.size()))) {
    refuse(store_, "plan/items.jsonl is cut short; plan again");
  }
  std::vector<WorkItem> items;
  try {
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      items.push_back(item_of(Json::parse(text.begin() + static_cast<std::ptrdiff_t>(at),
                                          text.begin() + static_cast<std::ptrdiff_t>(end))));
      at = end + 1;
    }
  } catch (const Json::exception& error) {
    refuse(store_, fmt::format("the plan is damaged: unit {}: {}; plan again", unit.name, error.what()));
  }
  if (static_cast<std::int64_t>(items.size()) != unit.items)
    refuse(store_, "plan/items.jsonl does not fit units.jsonl; plan again");
  return items;
}

std::string Plan::content_fault() const {
  const std::string items = file_sha256(store_ + "/plan/items.jsonl"),
                    units = file_sha256(store_ + "/plan/units.jsonl");
  if (plan_hash(items, units, facts_) == hash_) return {};
  return "plan/items.jsonl, units.jsonl and plan.json do not belong together: their hash is another one than plan.json "
         "says; they were changed after `plan`: plan again, into another STORE";
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
