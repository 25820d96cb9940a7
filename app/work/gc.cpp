// saccade gc: removes what attempts left that were cut short.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <vector>

#include "app/commands.h"
#include "app/counted.h"
#include "app/exit_code.h"
#include "app/options/options.h"
#include "app/read_file.h"
#include "app/whole_file.h"
#include "app/work/markers.h"
#include "app/work/store/attempt.h"
#include "app/work/store/marker_file.h"
#include "pipeline/error.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

bool is_old(const std::string& path, double older_than_s) {
  const auto facts = look_at(path);
  return facts && age_s(*facts) >= older_than_s;
}

// A file of STORE/shards, index or quarantine.
struct Part {
  std::string name;  // as markers have it
  std::string unit;
};

std::vector<Part> parts_of(const std::string& store) {
  std::vector<Part> parts;
  for (const char* folder : kPartFolders) {
    for (const std::string& name : list_folder(store + "/" + folder).value_or(Names{})) {
      parts.push_back({fmt::format("{}/{}", folder, name), name.substr(0, name.find('.'))});
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

// `left`: attempts of nobody that are still there.
bool is_at_work(const std::string& store, const Names& left) {
  const Names there = list_folder(store + "/attempts").value_or(Names{});
  return std::any_of(there.begin(), there.end(), [&left](const std::string& name) {
    return std::find(left.begin(), left.end(), name) == left.end();
  });
}

// A store without a marker looks like one whose markers are elsewhere. Its files are worth more than their room.
void refuse_without_markers(const std::string& store, const std::vector<Part>& parts, const Marked& marked) {
  if (parts.empty() || !marked.units.empty()) return;
  throw Error(ErrorKind::kOutput,
              fmt::format("{}: holds {}, {} and others, but no marker: is commits/ that of this store? Nothing was "
                          "removed. Once a unit is done by `saccade work`, `gc` knows its files from others",
                          store, counted(static_cast<std::int64_t>(parts.size()), "file"), parts.front().name));
}

// Plans that were cut short.
Names drafts_in(const std::string& store, double older_than_s) {
  Names drafts;
  for (const std::string& name : list_folder(store).value_or(Names{})) {
    if (name.starts_with("plan.") && name.ends_with(".tmp") && is_old(store + "/" + name, older_than_s))
      drafts.push_back(name);
  }
  return drafts;
}

void remove(const std::string& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) fail_to_write(path, error.value());
}

// Note [Orphans]: an attempt is made before its files, a marker after them, and the attempt goes last. So of files
// that were listed first, those without a marker afterwards are an attempt's that is still there, or nobody's.
// An attempt that began while the markers were read may make a file of the very same name: so what is at work is
// looked for before and after, and a marker that came meanwhile keeps its unit's files. Both that and a file's age are
// looked at again right before the file is removed.
class Garbage {
 public:
  // Reads all of the store that it needs: where one file or folder can't be read, nothing is removed but attempts.
  Garbage(const Plan& plan, const Options& options)
      : store_(options.work.store), older_than_s_(options.work.older_than_s), dry_run_(options.work.dry_run) {
    const std::vector<Part> parts = parts_of(store_);
    refuse_without_markers(store_, parts, marked_in(plan, store_));
    const Names dead = sweep_attempts(store_, {true, older_than_s_, dry_run_});
    attempts_ = static_cast<std::int64_t>(dead.size());
    const Names left = dry_run_ ? dead : Names{};
    const bool at_work_before = is_at_work(store_, left);
    marked_ = marked_in(plan, store_);
    at_work_ = at_work_before || is_at_work(store_, left);
    std::copy_if(parts.begin(), parts.end(), std::back_inserter(orphans_),
                 [this](const Part& part) { return is_orphan(part); });
    drafts_ = drafts_in(store_, older_than_s_);
  }

  // Removes them, unless it is a dry run. Returns the orphans.
  Names remove_all() {
    Names names;
    for (const Part& part : orphans_) {
      const std::string path = store_ + "/" + part.name;
      const auto facts = look_at(path);
      if (!facts || !is_orphan(part)) continue;
      if (!dry_run_) remove(path);
      bytes_ += facts->bytes;
      names.push_back(path);
    }
    for (const std::string& name : drafts_) {
      if (!dry_run_) remove(store_ + "/" + name);
    }
    return names;
  }
  std::int64_t attempts() const { return attempts_; }
  std::uint64_t bytes() const { return bytes_; }  // of the orphans

 private:
  bool is_orphan(const Part& part) const {
    if (marked_.names.count(part.name) != 0) return false;
    if (marked_.units.count(part.unit) == 0 && (at_work_ || is_committed(store_, part.unit))) return false;
    return is_old(store_ + "/" + part.name, older_than_s_);
  }

  const std::string store_;
  const double older_than_s_;
  const bool dry_run_;
  Marked marked_;
  bool at_work_ = false;
  std::vector<Part> orphans_;
  Names drafts_;
  std::int64_t attempts_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace

int run_gc(const Options& options) {
  const std::string& store = options.work.store;
  const Plan plan(store);
  Garbage garbage(plan, options);
  const Names orphans = garbage.remove_all();
  const auto files = static_cast<std::int64_t>(orphans.size());
  if (options.json) {
    fmt::print("{}\n", json_text({{"attempts", garbage.attempts()}, {"files", files}, {"bytes", garbage.bytes()}}, -1));
    return static_cast<int>(ExitCode::kOk);
  }
  if (options.work.dry_run) {
    for (const std::string& path : orphans) fmt::print("{}\n", path);
  }
  fmt::print("{}: {} {} and {} ({:.1f} MB)\n", store, options.work.dry_run ? "would remove" : "removed",
             counted(garbage.attempts(), "attempt"), counted(files, "file"),
             static_cast<double>(garbage.bytes()) / 1e6);
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace saccade
