// saccade verify: reads all that is done again, and compares sizes, hashes and keys.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "app/commands.h"
#include "app/counted.h"
#include "app/exit_code.h"
#include "app/input_identity.h"
#include "app/options/options.h"
#include "app/sha256.h"
#include "app/work/markers.h"

namespace saccade {
namespace {

constexpr std::int64_t kPieceBytes = 1 << 20;

// Of a member's bytes in its shard; empty: the shard ends before.
std::string hash_of(std::ifstream& shard, const Json& member) {
  Sha256 digest;
  std::string piece(kPieceBytes, 0);
  shard.clear();
  shard.seekg(member.at("offset").get<std::int64_t>());
  for (auto left = member.at("bytes").get<std::int64_t>(); left > 0; left -= kPieceBytes) {
    const std::int64_t size = std::min(left, kPieceBytes);
    if (!shard.read(piece.data(), size)) return {};
    digest.add(piece.data(), static_cast<std::size_t>(size));
  }
  return digest.hexadecimal();
}

class Verifier {
 public:
  Verifier(const Plan& plan, const std::string& store) : plan_(plan), store_(store) {}

  void unit(const PlannedUnit& unit, const Json& marker) {
    unit_ = unit.name;
    keys_.clear();
    const std::int64_t done = marker.at("done").get<std::int64_t>() + marker.at("damaged").get<std::int64_t>();
    part(marker, "shard", done > 0);
    if (part(marker, "index", done > 0)) index(marker, done);
    const std::int64_t bad = marker.at("quarantined");
    if (part(marker, "quarantine", bad > 0)) lines(marker.at("quarantine").at("name"), bad);
    for (const WorkItem& item : plan_.items(unit)) {
      if (keys_.erase(item.key) == 0) fault("{}: neither done nor quarantined", item.key);
    }
    for (const std::string& key : keys_) fault("{}: is not of this unit", key);
  }
  const std::vector<std::string>& faults() const { return faults_; }
  std::int64_t members() const { return members_; }

 private:
  template <typename... Values>
  void fault(fmt::format_string<Values...> text, Values&&... values) {
    faults_.push_back(fmt::format("unit {}: {}", unit_, fmt::format(text, std::forward<Values>(values)...)));
  }

  // Is the file there, as large as the marker says and with the same hash?
  bool part(const Json& marker, const char* name, bool wanted) {
    const Json& file = marker.at(name);
    if (file.is_null()) {
      if (wanted) fault("the marker names no {}", name);
      return false;
    }
    const std::string path = store_ + "/" + file.at("name").get<std::string>();
    std::error_code error;
    const auto bytes = std::filesystem::file_size(path, error);
    if (error) return fault("{}: is missing", path), false;
    if (bytes != file.at("bytes"))
      return fault("{}: has {} bytes, the marker says {}", path, bytes, file.at("bytes").dump()), false;
    if (file_sha256(path) != file.at("sha256").get<std::string>())
      return fault("{}: its bytes have changed", path), false;
    return wanted;
  }

  // The keys of a file of lines, each once.
  std::vector<Json> lines(const std::string& name, std::int64_t wanted) {
    std::vector<Json> all;
    std::ifstream file(store_ + "/" + name);
    for (std::string line; std::getline(file, line);) {
      Json json = Json::parse(line, nullptr, false);
      if (!json.is_object() || !json.contains("key")) {
        fault("{}: line {} is damaged", name, all.size() + 1);
        return all;
      }
      if (!keys_.insert(json.at("key").get<std::string>()).second)
        fault("{}: stands there twice", json.at("key").get<std::string>());
      all.push_back(std::move(json));
    }
    if (static_cast<std::int64_t>(all.size()) != wanted)
      fault("{}: has {}, the marker says {}", name, counted(static_cast<std::int64_t>(all.size()), "line"), wanted);
    return all;
  }

  // Each member where the index says, with its hash.
  void index(const Json& marker, std::int64_t wanted) {
    std::ifstream shard;
    if (const Json& file = marker.at("shard"); !file.is_null())
      shard.open(store_ + "/" + file.at("name").get<std::string>(), std::ios::binary);
    for (const Json& line : lines(marker.at("index").at("name"), wanted)) {
      for (const auto& [name, member] : line.at("members").items()) {
        ++members_;
        if (hash_of(shard, member) != member.at("sha256").get<std::string>())
          fault("{}.{}: differs from the index", line.at("key").get<std::string>(), name);
      }
    }
  }

  const Plan& plan_;
  const std::string store_;
  std::string unit_;
  std::set<std::string> keys_;
  std::vector<std::string> faults_;
  std::int64_t members_ = 0;
};

}  // namespace

int run_verify(const Options& options) {
  const std::string& store = options.work.store;
  const Plan plan(store);
  Verifier verifier(plan, store);
  const StoreCounts all =
      count_markers(plan, store, [&](const PlannedUnit& unit, const Json& marker) { verifier.unit(unit, marker); });
  std::vector<std::string> faults = all.faults;
  if (const std::string fault = plan.content_fault(); !fault.empty()) faults.insert(faults.begin(), fault);
  faults.insert(faults.end(), verifier.faults().begin(), verifier.faults().end());
  if (options.json) {
    fmt::print("{}\n", json_text({{"units", all.units_done}, {"members", verifier.members()}, {"faults", faults}}, -1));
  } else {
    fmt::print("{}: {}, {}, {}\n", store, counted(all.units_done, "unit"), counted(verifier.members(), "member"),
               counted(static_cast<std::int64_t>(faults.size()), "fault"));
  }
  for (const std::string& fault : faults) fmt::print(stderr, "saccade: {}: {}\n", store, fault);
  if (!verifier.faults().empty())
    fmt::print(stderr, "saccade: {}: remove commits/UNIT.json of such a unit, and `work` does it again\n", store);
  return static_cast<int>(faults.empty() ? ExitCode::kOk : ExitCode::kUnexpected);
}

}  // namespace saccade
