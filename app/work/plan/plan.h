// A frozen plan, as it lies in STORE/plan. docs/STORE.md has the format.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/work/plan/item.h"
#include "app/work/store/store.h"

namespace saccade {

using OptionTexts = std::vector<std::pair<std::string, std::string>>;

struct PlannedUnit {
  std::string name;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::int64_t items = 0;
  double media_s = 0;
};

// Immutable: any thread may read it. Throws UsageError where there is no plan, or one that is not whole.
class Plan {
 public:
  explicit Plan(Store& store);
  static bool exists(Store& store);
  static bool is_empty(Store& store);  // plan.json is there, and holds nothing: no plan

  const Json& facts() const { return facts_; }
  const std::string& hash() const { return hash_; }
  Store& store() const { return store_; }
  OptionTexts run_options() const;  // `options` and `settings` together
  std::int64_t count(const char* name) const { return facts_.at(name); }
  const std::vector<PlannedUnit>& units() const { return units_; }
  const PlannedUnit* find(const std::string& unit) const;  // null: none of that name
  std::vector<WorkItem> items(const PlannedUnit& unit) const;

  // Throws UsageError that says why this version of the program can't work on it.
  void check_version() const;
  // Reads all of units.jsonl and items.jsonl: what is wrong with them by `hash`; empty: nothing.
  std::string content_fault() const;
  void check_content() const;  // throws UsageError that names the fault

 private:
  class Lines;
  std::string lines_path() const;  // of items.jsonl, or of a copy on this machine; empty: it is missing
  Store& store_;
  std::shared_ptr<Lines> lines_;
  Json facts_;
  std::string hash_;
  std::vector<PlannedUnit> units_;
};

// `hash` of plan.json, from the two files' SHA-256. facts: `options` and `settings` are read.
std::string plan_hash(const std::string& items_sha256, const std::string& units_sha256, const Json& facts);
std::string unit_name(std::int64_t index);  // "00000042"
OptionTexts texts_of(const Json& object);
Json json_of(const OptionTexts& texts);

}  // namespace saccade
