#include "app/work/plan/plan.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>

#include "app/files/read_file.h"
#include "app/files/sha256.h"
#include "app/version.h"
#include "pipeline/error.h"

namespace saccade {
namespace {

constexpr const char* kWayBack = "put plan/ back from a copy, or plan again, into another STORE";

// A loss of power leaves a file without bytes, or with zeros in place of them.
bool is_lost(const std::string& text) { return text.empty() || text[0] == 0; }

std::optional<std::string> hash_of(Store& store, const std::string& name) {
  Sha256 digest;
  if (!store.read_pieces(name, [&digest](std::string_view piece) { digest.add(piece); })) return std::nullopt;
  return digest.hexadecimal();
}

[[noreturn]] void refuse(const Store& store, const std::string& fault) {
  throw UsageError(fmt::format("{}: {}", store.place(), fault));
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

bool Plan::exists(Store& store) {
  const auto first = store.read("plan/plan.json", 0, 1);
  return first && !is_lost(*first);
}

bool Plan::is_empty(Store& store) {
  const auto first = store.read("plan/plan.json", 0, 1);
  return first && is_lost(*first);
}

// items.jsonl as a file of this machine. The copy of a bucket's has no name, and goes with this.
class Plan::Lines {
 public:
  ~Lines() {
    if (fd_ >= 0) close(fd_);
  }
  const std::string& path(Store& store) {
    std::call_once(once_, [&] { find(store); });
    return path_;
  }

 private:
  void find(Store& store) {
    const auto path = store.local_copy("plan/items.jsonl");
    if (!path) return;
    path_ = *path;
    if (store.is_folder()) return;
    fd_ = open(path->c_str(), O_RDONLY | O_CLOEXEC);
    if (fd_ < 0) return path_.clear();
    unlink(path->c_str());
    path_ = fmt::format("/proc/self/fd/{}", fd_);
  }
  std::once_flag once_;
  std::string path_;
  int fd_ = -1;
};

std::string Plan::lines_path() const { return lines_->path(store_); }

Plan::Plan(Store& store) : store_(store), lines_(std::make_shared<Lines>()) {
  const auto text = store.read("plan/plan.json");
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
    const auto lines = store.read("plan/units.jsonl");
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
  const std::string path = lines_path();
  const auto text = path.empty() ? std::nullopt : read_file(path, unit.offset, unit.bytes);
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
  const std::string path = lines_path();
  const auto items = path.empty() ? std::nullopt : hash_file(path), units = hash_of(store_, "plan/units.jsonl");
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
