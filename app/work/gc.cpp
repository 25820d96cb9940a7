// saccade gc: removes what attempts left that were cut short.
#include <fmt/format.h>
#include <sys/stat.h>

#include <ctime>
#include <filesystem>
#include <set>
#include <vector>

#include "app/commands.h"
#include "app/counted.h"
#include "app/exit_code.h"
#include "app/options/options.h"
#include "app/work/markers.h"
#include "app/work/store/attempt.h"
#include "app/work/store/unit_result.h"
#include "pipeline/error.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;

bool is_old(const fs::path& path, double older_than_s) {
  struct stat facts {};
  return stat(path.c_str(), &facts) == 0 && static_cast<double>(std::time(nullptr) - facts.st_mtime) >= older_than_s;
}

struct Removed {
  std::int64_t files = 0;
  std::uintmax_t bytes = 0;
};

// A file of STORE/shards, index or quarantine.
struct Part {
  fs::path path;
  std::string name;  // as markers have it
  std::string unit;
};

std::vector<Part> parts_of(const std::string& store) {
  std::vector<Part> parts;
  for (const char* folder : {"shards", "index", "quarantine"}) {
    std::error_code error;
    for (fs::directory_iterator at(store + "/" + folder, error), end; !error && at != end; at.increment(error)) {
      const std::string name = at->path().filename().string();
      parts.push_back({at->path(), fmt::format("{}/{}", folder, name), name.substr(0, name.find('.'))});
    }
  }
  return parts;
}

// What the markers name, and which units have one.
struct Marked {
  std::set<std::string> names, units;
};

Marked marked_in(const Plan& plan, const std::string& store) {
  Marked marked;
  const StoreCounts all = count_markers(plan, store, [&marked](const PlannedUnit& unit, const Json& marker) {
    marked.units.insert(unit.name);
    for (const char* part : {"shard", "index", "quarantine"}) {
      if (!marker.at(part).is_null()) marked.names.insert(marker.at(part).at("name").get<std::string>());
    }
  });
  if (!all.faults.empty()) {
    throw UsageError(fmt::format("{}: {}; nothing was removed: see `saccade status`", store, all.faults.front()));
  }
  return marked;
}

bool is_at_work(const std::string& store) {
  std::error_code none;
  return fs::directory_iterator(store + "/attempts", none) != fs::directory_iterator();
}

Removed remove_orphans(const std::string& store, const std::vector<Part>& parts, const Marked& marked, bool at_work,
                       double older_than_s) {
  Removed removed;
  for (const Part& part : parts) {
    if (marked.names.count(part.name) != 0) continue;
    if (marked.units.count(part.unit) == 0 && (at_work || is_committed(store, part.unit))) continue;
    if (!is_old(part.path, older_than_s)) continue;
    std::error_code ignored;
    const auto bytes = fs::file_size(part.path, ignored);
    if (!fs::remove(part.path, ignored)) continue;
    ++removed.files;
    removed.bytes += bytes;
  }
  return removed;
}

}  // namespace

int run_gc(const Options& options) {
  const std::string& store = options.work.store;
  const Plan plan(store);
  const double older_than_s = options.work.older_than_s;
  marked_in(plan, store);  // a damaged marker is told before anything is removed
  // Note [Orphans]: an attempt is made before its files, a marker after them, and the attempt goes last. So of files
  // that were listed first, those without a marker afterwards are an attempt's that is still there, or nobody's.
  // An attempt that began while the markers were read may make a file of the very same name: so what is at work is
  // looked for before and after, and a marker that came meanwhile keeps its unit's files.
  const std::vector<Part> parts = parts_of(store);
  const std::int64_t attempts = sweep_attempts(store, true, older_than_s);
  const bool at_work_before = is_at_work(store);
  const Marked marked = marked_in(plan, store);
  const bool at_work = at_work_before || is_at_work(store);
  const Removed removed = remove_orphans(store, parts, marked, at_work, older_than_s);
  for (const auto& entry : fs::directory_iterator(store)) {  // plans that were cut short
    const std::string name = entry.path().filename().string();
    std::error_code ignored;
    if (name.starts_with("plan.") && name.ends_with(".tmp") && is_old(entry.path(), older_than_s))
      fs::remove_all(entry, ignored);
  }
  if (options.json) {
    fmt::print("{}\n", json_text({{"attempts", attempts}, {"files", removed.files}, {"bytes", removed.bytes}}, -1));
  } else {
    fmt::print("{}: removed {} and {} ({:.1f} MB)\n", store, counted(attempts, "attempt"),
               counted(removed.files, "file"), static_cast<double>(removed.bytes) / 1e6);
  }
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace saccade
