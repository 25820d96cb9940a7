// saccade gc: removes what attempts left that were cut short.
#include <fmt/format.h>
#include <sys/stat.h>

#include <ctime>
#include <filesystem>
#include <set>

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

// What no marker names. What is young may get its marker in a moment, and so may what is of a unit without one while
// somebody works.
Removed remove_orphans(const std::string& store, const std::set<std::string>& named, double older_than_s) {
  std::error_code none;
  const bool at_work = fs::directory_iterator(store + "/attempts", none) != fs::directory_iterator();
  Removed removed;
  for (const char* folder : {"shards", "index", "quarantine"}) {
    std::error_code error;
    for (fs::directory_iterator at(store + "/" + folder, error), end; !error && at != end; at.increment(error)) {
      const fs::path path = at->path();
      const std::string unit = path.filename().string().substr(0, path.filename().string().find('.'));
      if (at_work && !is_committed(store, unit)) continue;
      if (named.count(std::string(folder) + "/" + path.filename().string()) != 0 || !is_old(path, older_than_s))
        continue;
      std::error_code ignored;
      const auto bytes = fs::file_size(path, ignored);
      if (!fs::remove(path, ignored)) continue;
      ++removed.files;
      removed.bytes += bytes;
    }
  }
  return removed;
}

}  // namespace

int run_gc(const Options& options) {
  const std::string& store = options.work.store;
  const Plan plan(store);
  std::set<std::string> named;
  const StoreCounts all = count_markers(plan, store, [&named](const PlannedUnit&, const Json& marker) {
    for (const char* part : {"shard", "index", "quarantine"}) {
      if (!marker.at(part).is_null()) named.insert(marker.at(part).at("name").get<std::string>());
    }
  });
  if (!all.faults.empty()) {
    throw UsageError(fmt::format("{}: {}; nothing was removed: see `saccade status`", store, all.faults.front()));
  }
  const double older_than_s = options.work.older_than_s;
  const std::int64_t attempts = sweep_attempts(store, true, older_than_s);
  const Removed removed = remove_orphans(store, named, older_than_s);
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
