#include "app/work/commit/unit_result.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>

#include "app/files/whole_file.h"
#include "app/json/facts_json.h"
#include "app/process/process_name.h"
#include "app/work/commit/marker_file.h"
#include "app/work/commit/shard.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t kNameDigits = 12;

struct Written {
  std::string name;  // below the store
  std::uint64_t bytes = 0;
  std::string sha256;
  Json json() const { return {{"name", name}, {"bytes", bytes}, {"sha256", sha256}}; }
};

std::string named(const char* folder, const std::string& unit, const std::string& sha256, const char* suffix) {
  return fmt::format("{}/{}.{}.{}", folder, unit, sha256.substr(0, kNameDigits), suffix);
}

// What has the same name has the same bytes.
Written publish_text(const UnitTarget& target, const char* folder, const std::string& unit, const std::string& text) {
  Written file{"", text.size(), sha256_of(text)};
  file.name = named(folder, unit, file.sha256, "jsonl");
  const std::string temporary = fmt::format("{}/{}.{}", target.attempt, unit, folder);
  if (const int fault = replace_file(temporary, {text}); fault != 0) fail_to_write(temporary, fault);
  if (const int fault = sync_to_disk(temporary); fault != 0) fail_to_write(temporary, fault);
  target.store().put_file(file.name, temporary);
  return file;
}

Json given_up_json(const ItemResult& result, const std::string& unit) {
  const GivenUp& why = *result.given_up;
  Json line = shown_item_json(result.item);
  line["unit"] = unit;
  line["class"] = why.kind;
  line["line"] = why.line;
  line["exit"] = or_null(why.exit);
  line["signal"] = or_null(why.signal);
  line["host"] = host_name();
  line["attempts"] = why.attempts;
  return line;
}

// Shard and index into the store, their names and sums into the marker.
void put_done(const UnitTarget& target, const UnitResult& result, Json& marker) {
  const std::string& unit = result.unit->name;
  const std::string temporary = fmt::format("{}/{}.tar", target.attempt, unit);
  TarWriter shard(temporary);
  std::vector<Json> lines;
  std::int64_t damaged = 0, emissions = 0, frames = 0;
  double media_s = 0;
  for (const ItemResult& item : result.items) {
    if (item.given_up) continue;
    lines.push_back(add_to_shard(shard, target.plan, item));
    damaged += item.damage.empty() ? 0 : 1;
    emissions += lines.back().at("emissions").get<std::int64_t>();
    frames += lines.back().at("frames").get<std::int64_t>();
    media_s += lines.back().at("seconds").get<double>();
  }
  marker["done"] = static_cast<std::int64_t>(lines.size()) - damaged;
  marker["damaged"] = damaged;
  marker["emissions"] = emissions;
  marker["frames"] = frames;
  marker["media_s"] = media_s;
  if (lines.empty()) return fs::remove(temporary), void();
  shard.finish();
  const Written file{named("shards", unit, shard.sha256(), "tar"), shard.bytes(), shard.sha256()};
  target.store().put_file(file.name, temporary);
  std::string text;
  for (Json& line : lines) {
    line["unit"] = unit;
    line["shard"] = file.name;
    text += line_of(line);
  }
  marker["shard"] = file.json();
  marker["index"] = publish_text(target, "index", unit, text).json();
}

void put_given_up(const UnitTarget& target, const UnitResult& result, Json& marker) {
  std::string text;
  std::map<std::string, std::int64_t> classes;
  std::int64_t count = 0;
  for (const ItemResult& item : result.items) {
    if (!item.given_up) continue;
    text += line_of(given_up_json(item, result.unit->name));
    ++classes[item.given_up->kind];
    ++count;
  }
  marker["quarantined"] = count;
  for (const auto& [kind, of_it] : classes) marker["classes"][kind] = of_it;
  if (count > 0) marker["quarantine"] = publish_text(target, "quarantine", result.unit->name, text).json();
}

// What this attempt wrote and the winner did not: an orphan. Of a marker that can't be read nobody knows what it names.
void drop_own(Store& store, const Json& own, const Json& winner) {
  if (!winner.is_object()) return;
  for (const char* part : {"shard", "index", "quarantine"}) {
    if (own.at(part).is_null() || own.at(part) == winner.value(part, Json())) continue;
    store.remove(own.at(part).at("name").get<std::string>());
  }
}

}  // namespace

bool commit_unit(const UnitTarget& target, const UnitResult& result) {
  using std::chrono::system_clock;
  const std::string& unit = result.unit->name;
  Json marker = {{"format", "saccade-commit"}, {"schema", 1}, {"plan", target.plan.hash()}, {"unit", unit}};
  marker["items"] = result.items.size();
  for (const char* count : {"done", "damaged", "quarantined"}) marker[count] = 0;
  marker["classes"] = Json::object();
  for (const char* part : {"shard", "index", "quarantine"}) marker[part] = nullptr;
  target.store().make_folder("commits");  // before any part: parts without this folder are a store that lacks some
  put_done(target, result, marker);
  put_given_up(target, result, marker);
  marker["engine"] = target.engine;
  marker["host"] = host_name();
  marker["attempt"] = fs::path(target.attempt).filename().string();
  marker["wall_s"] = result.wall_s;
  marker["unix_s"] = std::chrono::duration_cast<std::chrono::seconds>(system_clock::now().time_since_epoch()).count();
  if (target.store().create(marker_name(unit), marker_text(marker))) return true;
  drop_own(target.store(), marker, read_marker(target.store(), unit).value_or(Json()));
  return false;
}

}  // namespace saccade
