// saccade gc: removes what processes left that were cut short.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <vector>

#include "app/commands.h"
#include "app/counted.h"
#include "app/options/options.h"
#include "app/process/exit_code.h"
#include "app/work/claim/claims.h"
#include "app/work/commit/marker_file.h"
#include "app/work/commit/markers.h"
#include "app/work/store/attempt.h"
#include "pipeline/error.h"

namespace saccade {
namespace {

using Names = std::vector<std::string>;

// A file of STORE/shards, index or quarantine.
struct Part {
  std::string name;  // as markers have it
  std::string unit;
  StoreFile file;
};

std::vector<Part> parts_of(Store& store) {
  std::vector<Part> parts;
  for (const char* folder : kPartFolders) {
    for (StoreFile& file : store.files(folder)) {
      const std::string unit = file.name.substr(0, file.name.find('.'));
      parts.push_back({fmt::format("{}/{}", folder, file.name), unit, std::move(file)});
    }
  }
  return parts;
}

// What the markers name, and which units have one.
struct Marked {
  std::set<std::string> names, units;
};

Marked marked_in(const Plan& plan) {
  Marked marked;
  const StoreCounts all = count_markers(plan, [&marked](const PlannedUnit& unit, const Json& marker) {
    marked.units.insert(unit.name);
    for (const char* part : {"shard", "index", "quarantine"}) {
      if (!marker.at(part).is_null()) marked.names.insert(marker.at(part).at("name").get<std::string>());
    }
  });
  if (!all.faults.empty()) {
    throw UsageError(
        fmt::format("{}: {}; nothing was removed: see `saccade status`", plan.store().place(), all.faults.front()));
  }
  return marked;
}

// A store without a marker looks like one whose markers are elsewhere. Its files are worth more than their room.
void refuse_without_markers(const Store& store, const std::vector<Part>& parts, const Marked& marked) {
  if (parts.empty() || !marked.units.empty()) return;
  throw Error(ErrorKind::kOutput,
              fmt::format("{}: holds {}, {} and others, but no marker: is commits/ that of this store? Nothing was "
                          "removed. Once a unit is done by `saccade work`, `gc` knows its files from others",
                          store.place(), counted(static_cast<std::int64_t>(parts.size()), "file"), parts.front().name));
}

// Note [Orphans]: a heartbeat is put before a unit's files, a marker after them, and the heartbeat goes last. So of
// files that were listed first, those without a marker afterwards are of a process whose heartbeat is still there, or
// of none that lives. One that began while the markers were read may make a file of the very same name: so heartbeats
// are looked for before and after, and a marker that came meanwhile keeps its unit's files.
class Garbage {
 public:
  // Reads all of the store that it needs: where one file or folder can't be read, nothing is removed but attempts.
  Garbage(const Plan& plan, const Options& options)
      : store_(plan.store()), older_than_s_(options.work.older_than_s), dry_run_(options.work.dry_run) {
    std::vector<Part> parts = parts_of(store_);
    refuse_without_markers(store_, parts, marked_in(plan));
    const Names dead = sweep_attempts(store_.scratch_root(), {true, older_than_s_, dry_run_});
    attempts_ = static_cast<std::int64_t>(dead.size());
    const bool at_work_before = is_at_work(dead);
    const std::vector<Claim> claims = read_claims();
    marked_ = marked_in(plan);
    at_work_ = is_at_work(dead) || at_work_before;
    std::copy_if(std::make_move_iterator(parts.begin()), std::make_move_iterator(parts.end()),
                 std::back_inserter(orphans_), [this](const Part& part) { return is_orphan(part); });
    find_claims(claims);
    find_drafts();
  }

  // Removes them, unless it is a dry run. Returns the orphans.
  Names remove_all() {
    Names names;
    for (const Part& part : orphans_) {
      if (!is_orphan(part)) continue;
      if (!dry_run_) store_.remove(part.name);
      bytes_ += part.file.bytes;
      names.push_back(store_.path(part.name));
    }
    if (dry_run_) return names;
    for (const std::string& name : left_) store_.remove(name);
    for (const std::string& folder : drafts_) std::filesystem::remove_all(folder);
    return names;
  }
  std::int64_t attempts() const { return attempts_; }
  std::uint64_t bytes() const { return bytes_; }  // of the orphans

 private:
  bool is_old(const StoreFile& file) const { return file.age_s && *file.age_s >= older_than_s_; }

  // Whether a process works on the store. It has a heartbeat, and in a folder an attempt, which is locked while it
  // lives. The attempt is made before the heartbeat and goes after it, so heartbeats are listed first. A heartbeat
  // without an attempt is dead once it is old: the attempt may lie on another machine.
  bool is_at_work(const Names& dead) {
    const auto is_dead = [&dead](const std::string& name) {
      return std::find(dead.begin(), dead.end(), name) != dead.end();
    };
    live_.clear();
    left_.clear();
    const std::vector<StoreFile> heartbeats = store_.files(kWorkers);
    for (StoreFile& file : store_.is_folder() ? store_.files("attempts") : std::vector<StoreFile>{}) {
      if (!is_dead(file.name)) live_.insert(file.name);
    }
    for (const StoreFile& file : heartbeats) {
      const std::string name = file.name.substr(0, file.name.rfind('.'));
      if (is_dead(name) || (live_.count(name) == 0 && is_old(file))) {
        left_.insert(heartbeat_name(name));
      } else {
        live_.insert(name);
      }
    }
    return !live_.empty();
  }

  bool is_orphan(const Part& part) {
    if (marked_.names.count(part.name) != 0) return false;
    if (marked_.units.count(part.unit) == 0 && (at_work_ || is_committed(store_, part.unit))) return false;
    return is_old(part.file);
  }

  struct Claim {
    std::string name;  // "claims/U.N"
    std::string unit, worker;
    int number;
  };

  // Before the last look at the heartbeats: a worker puts its own before it claims a unit.
  std::vector<Claim> read_claims() {
    Names names;
    for (const std::string& file : store_.names(kClaims).value_or(Names{}))
      names.push_back(fmt::format("{}/{}", kClaims, file));
    std::vector<Claim> claims;
    store_.read_many(names, [&claims](const std::string& name, const std::string& text) {
      const std::string file = name.substr(name.find('/') + 1);
      claims.push_back({name, unit_of_claim(file), worker_of_claim(text), number_of_claim(file)});
    });
    return claims;
  }

  // All claims of a unit that has a marker, or of which the last claim is of a dead worker.
  void find_claims(const std::vector<Claim>& claims) {
    std::map<std::string, const Claim*> last;
    for (const Claim& claim : claims) {
      const Claim*& highest = last[claim.unit];
      if (highest == nullptr || highest->number < claim.number) highest = &claim;
    }
    for (const Claim& claim : claims) {
      if (marked_.units.count(claim.unit) != 0 || live_.count(last[claim.unit]->worker) == 0) left_.insert(claim.name);
    }
  }

  // Plans that were cut short.
  void find_drafts() {
    for (const StoreFile& file : store_.is_folder() ? store_.files("") : std::vector<StoreFile>{}) {
      if (file.name.starts_with("plan.") && file.name.ends_with(".tmp") && is_old(file))
        drafts_.push_back(store_.path(file.name));
    }
  }

  Store& store_;
  const double older_than_s_;
  const bool dry_run_;
  Marked marked_;
  std::set<std::string> live_;  // workers
  bool at_work_ = false;
  std::vector<Part> orphans_;
  std::set<std::string> left_;  // claims and heartbeats of dead workers
  Names drafts_;
  std::int64_t attempts_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace

int run_gc(const Options& options) {
  const auto place = open_store(options.work.store);
  const Plan plan(*place);
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
  fmt::print("{}: {} {} and {} ({:.1f} MB)\n", place->place(), options.work.dry_run ? "would remove" : "removed",
             counted(garbage.attempts(), "attempt"), counted(files, "file"),
             static_cast<double>(garbage.bytes()) / 1e6);
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace saccade
