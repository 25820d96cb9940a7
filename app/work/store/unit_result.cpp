#include "app/work/store/unit_result.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "app/json/facts_json.h"
#include "app/process_name.h"
#include "app/read_file.h"
#include "app/whole_file.h"
#include "app/work/store/marker_file.h"
#include "app/work/store/shard.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t kNameDigits = 12;

[[noreturn]] void fail(const std::string& path) { fail_to_write(path, errno); }

void write_whole(const std::string& path, const std::string& text) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_TRUNC, 0666);
  if (fd < 0) fail(path);
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t done = write(fd, text.data() + at, text.size() - at);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) {
      const int fault = errno;
      close(fd);
      errno = fault;
      fail(path);
    }
    at += static_cast<std::size_t>(done);
  }
  if (fsync(fd) != 0 || close(fd) != 0) fail(path);
}

void make_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) fail_to_write(path, error.value());
}

void sync_folder(const std::string& path) {
  if (const int fault = sync_to_disk(path); fault != 0) fail_to_write(path, fault);
}

struct Written {
  std::string name;  // below the store
  std::uint64_t bytes = 0;
  std::string sha256;
  Json json() const { return {{"name", name}, {"bytes", bytes}, {"sha256", sha256}}; }
};

std::string named(const char* folder, const std::string& unit, const std::string& sha256, const char* suffix) {
  return fmt::format("{}/{}.{}.{}", folder, unit, sha256.substr(0, kNameDigits), suffix);
}

// Under its own name: what has the same name has the same bytes.
void publish(const UnitTarget& target, const std::string& temporary, const std::string& name) {
  const std::string path = target.store + "/" + name;
  make_folder(fs::path(path).parent_path());
  if (std::rename(temporary.c_str(), path.c_str()) != 0) fail(path);
  utimensat(AT_FDCWD, path.c_str(), nullptr, 0);  // gc leaves what is young
  sync_folder(fs::path(path).parent_path());
}

Written publish_text(const UnitTarget& target, const char* folder, const std::string& unit, const std::string& text) {
  Written file{"", text.size(), sha256_of(text)};
  file.name = named(folder, unit, file.sha256, "jsonl");
  const std::string temporary = fmt::format("{}/{}.{}", target.attempt, unit, folder);
  write_whole(temporary, text);
  publish(target, temporary, file.name);
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
  publish(target, temporary, file.name);
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
void drop_own(const std::string& store, const Json& own, const Json& winner) {
  if (!winner.is_object()) return;
  for (const char* part : {"shard", "index", "quarantine"}) {
    if (own.at(part).is_null() || own.at(part) == winner.value(part, Json())) continue;
    std::error_code ignored;
    fs::remove(store + "/" + own.at(part).at("name").get<std::string>(), ignored);
  }
}

// Where the file system has no hard links. One that has neither these nor renaming that overwrites nothing is looked at
// first: of two that come at once the later one's marker counts, whose files are there, too.
bool create_without_links(const std::string& path, const std::string& temporary) {
  if (renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) == 0) {
    sync_folder(fs::path(path).parent_path());
    return true;
  }
  if (errno == EEXIST) return false;
  if (errno != EINVAL && errno != ENOSYS && errno != ENOTSUP && errno != EPERM) fail(path);
  if (is_there(path)) return false;
  if (std::rename(temporary.c_str(), path.c_str()) != 0) fail(path);
  sync_folder(fs::path(path).parent_path());
  return true;
}

}  // namespace

bool create_once(const std::string& path, const std::string& temporary, const std::string& text) {
  make_folder(fs::path(path).parent_path());
  write_whole(temporary, text);
  if (link(temporary.c_str(), path.c_str()) == 0) {
    unlink(temporary.c_str());
    sync_folder(fs::path(path).parent_path());
    return true;
  }
  if (errno == EEXIST) return false;
  if (errno != EPERM && errno != ENOTSUP && errno != EMLINK && errno != ENOSYS) fail(path);
  return create_without_links(path, temporary);
}

bool commit_unit(const UnitTarget& target, const UnitResult& result) {
  using std::chrono::system_clock;
  const std::string& unit = result.unit->name;
  Json marker = {{"format", "saccade-commit"}, {"schema", 1}, {"plan", target.plan.hash()}, {"unit", unit}};
  marker["items"] = result.items.size();
  for (const char* count : {"done", "damaged", "quarantined"}) marker[count] = 0;
  marker["classes"] = Json::object();
  for (const char* part : {"shard", "index", "quarantine"}) marker[part] = nullptr;
  make_folder(target.store + "/commits");  // before any part: parts without this folder are a store that lacks some
  put_done(target, result, marker);
  put_given_up(target, result, marker);
  marker["engine"] = target.engine;
  marker["host"] = host_name();
  marker["attempt"] = fs::path(target.attempt).filename().string();
  marker["wall_s"] = result.wall_s;
  marker["unix_s"] = std::chrono::duration_cast<std::chrono::seconds>(system_clock::now().time_since_epoch()).count();
  if (create_once(marker_path(target.store, unit), target.attempt + "/" + unit + ".json", marker_text(marker)))
    return true;
  drop_own(target.store, marker, read_marker(target.store, unit).value_or(Json()));
  return false;
}

}  // namespace saccade
