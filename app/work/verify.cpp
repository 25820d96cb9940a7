// saccade verify: reads all that is done again, and compares sizes, hashes, keys and the markers' counts.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>

#include "app/commands.h"
#include "app/counted.h"
#include "app/files/sha256.h"
#include "app/options/options.h"
#include "app/process/exit_code.h"
#include "app/work/commit/marker_file.h"
#include "app/work/commit/markers.h"

namespace saccade {
namespace {

constexpr double kSame_s = 1e-6;  // a sum of seconds may differ by its rounding

// A member of a shard that is read from front to end.
struct Member {
  std::string name;  // KEY.KIND
  std::uint64_t begin = 0, end = 0;
  std::string sha256;  // as the index has it
  std::unique_ptr<Sha256> digest = std::make_unique<Sha256>();

  // A piece of the shard that begins at `at`.
  void add(std::uint64_t at, std::string_view piece) {
    const std::uint64_t first = std::max(begin, at), last = std::min(end, at + piece.size());
    if (first < last) digest->add(piece.substr(first - at, last - first));
  }
};

std::vector<Member> members_of(const std::vector<Json>& videos) {
  std::vector<Member> members;
  for (const Json& video : videos) {
    for (const auto& [kind, place] : video.at("members").items()) {
      Member member;
      member.name = fmt::format("{}.{}", video.at("key").get<std::string>(), kind);
      member.begin = place.at("offset");
      member.end = member.begin + place.at("bytes").get<std::uint64_t>();
      member.sha256 = place.at("sha256");
      members.push_back(std::move(member));
    }
  }
  return members;
}

class Verifier {
 public:
  explicit Verifier(const Plan& plan) : plan_(plan), store_(plan.store()) {}

  void unit(const PlannedUnit& unit, const Json& marker) {
    unit_ = unit.name;
    keys_.clear();
    const std::int64_t done = marker.at("done").get<std::int64_t>() + marker.at("damaged").get<std::int64_t>();
    std::vector<std::string> before = std::exchange(faults_, {});
    const std::vector<Json> videos = lines(marker, "index", done);
    compare_sums(marker, videos, done);
    const std::vector<std::string> of_index = std::exchange(faults_, std::move(before));
    shard(marker, done > 0, videos, of_index);  // its own faults come first
    const std::int64_t bad = marker.at("quarantined");
    compare_classes(marker, lines(marker, "quarantine", bad), bad);
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

  // Whether a file's bytes are those that the marker names; `on_piece` gets them.
  bool read_part(const Json& file, const std::function<void(std::string_view)>& on_piece) {
    const std::string name = file.at("name"), path = store_.path(name);
    Sha256 digest;
    std::uint64_t bytes = 0;
    const bool there = store_.read_pieces(name, [&](std::string_view piece) {
      digest.add(piece);
      bytes += piece.size();
      on_piece(piece);
    });
    if (!there) return fault("{}: is missing", path), false;
    if (bytes != file.at("bytes"))
      return fault("{}: has {} bytes, the marker says {}", path, bytes, file.at("bytes").dump()), false;
    if (digest.hexadecimal() != file.at("sha256").get<std::string>())
      return fault("{}: its bytes have changed", path), false;
    return true;
  }

  // The lines of index or quarantine. Each key stands there once.
  std::vector<Json> lines(const Json& marker, const char* part, std::int64_t wanted) {
    const Json& file = marker.at(part);
    if (file.is_null()) {
      if (wanted > 0) fault("the marker names no {}", part);
      return {};
    }
    std::string text;
    std::vector<Json> all;
    if (!read_part(file, [&text](std::string_view piece) { text += piece; })) return all;
    const std::string name = file.at("name");
    for (const std::string_view line : lines_of(text)) {
      Json json = Json::parse(line, nullptr, false);
      if (!json.is_object() || !json.contains("key")) {
        fault("{}: line {} is damaged", name, all.size() + 1);
        return {};
      }
      if (!keys_.insert(json.at("key").get<std::string>()).second)
        fault("{}: stands there twice", json.at("key").get<std::string>());
      all.push_back(std::move(json));
    }
    if (static_cast<std::int64_t>(all.size()) != wanted)
      fault("{}: has {}, the marker says {}", name, counted(static_cast<std::int64_t>(all.size()), "line"), wanted);
    return all;
  }

  // What `status` adds up, where all lines are known.
  void compare_sums(const Json& marker, const std::vector<Json>& videos, std::int64_t done) {
    if (static_cast<std::int64_t>(videos.size()) != done) return;
    std::int64_t damaged = 0, emissions = 0, frames = 0;
    double seconds = 0;
    for (const Json& video : videos) {
      damaged += video.at("damaged").get<bool>() ? 1 : 0;
      emissions += video.at("emissions").get<std::int64_t>();
      frames += video.at("frames").get<std::int64_t>();
      seconds += video.at("seconds").get<double>();
    }
    compare(marker, "damaged", damaged);
    compare(marker, "emissions", emissions);
    compare(marker, "frames", frames);
    const Json media_s = marker.value("media_s", Json());
    const bool same = media_s.is_number() && std::abs(media_s.get<double>() - seconds) <= kSame_s;
    if (!same) compare(marker, "media_s", seconds);
  }

  void compare_classes(const Json& marker, const std::vector<Json>& given_up, std::int64_t bad) {
    if (static_cast<std::int64_t>(given_up.size()) != bad) return;
    nlohmann::json classes = nlohmann::json::object();
    std::map<std::string, std::int64_t> counts;
    for (const Json& line : given_up) ++counts[line.value("class", "")];
    for (const auto& [kind, count] : counts) classes[kind] = count;
    compare(marker, "classes", classes);
  }

  void compare(const Json& marker, const char* name, const nlohmann::json& there) {
    const nlohmann::json said = marker.value(name, Json());  // without an order of members
    if (said != there) fault("the marker says {} {}, its files {}", name, said.dump(), there.dump());
  }

  // The shard, and in it each member where the index says: one reading for both.
  void shard(const Json& marker, bool wanted, const std::vector<Json>& videos,
             const std::vector<std::string>& of_index) {
    std::vector<Member> members = members_of(videos);
    std::uint64_t at = 0;
    const Json& file = marker.at("shard");
    if (file.is_null() && wanted) fault("the marker names no shard");
    if (!file.is_null()) {
      read_part(file, [&](std::string_view piece) {
        for (Member& member : members) member.add(at, piece);
        at += piece.size();
      });
    }
    faults_.insert(faults_.end(), of_index.begin(), of_index.end());
    members_ += static_cast<std::int64_t>(members.size());
    for (const Member& member : members) {
      if (member.end > at || member.digest->hexadecimal() != member.sha256)
        fault("{}: differs from the index", member.name);
    }
  }

  const Plan& plan_;
  Store& store_;
  std::string unit_;
  std::set<std::string> keys_;
  std::vector<std::string> faults_;
  std::int64_t members_ = 0;
};

struct Verified {
  std::int64_t units = 0;
  std::int64_t members = 0;
  std::vector<std::string> faults;
  bool of_units = false;  // some of them are of units, which `work` can do again
};

// Markers are judged by the plan: where it is not the one that was made, nothing can be said of them.
// Some units, drawn at random; all if no number is given.
std::set<std::string> drawn(const Plan& plan, std::optional<std::int64_t> count) {
  std::vector<std::string> names = count ? committed_units(plan.store()) : std::vector<std::string>{};
  std::vector<std::string> some;
  std::sample(names.begin(), names.end(), std::back_inserter(some), count.value_or(0),
              std::mt19937(std::random_device{}()));
  return {some.begin(), some.end()};
}

Verified verify(Store& store, std::optional<std::int64_t> sample) {
  const Plan plan(store);
  if (const std::string fault = plan.content_fault(); !fault.empty()) return {.faults = {fault}};
  const std::set<std::string> some = drawn(plan, sample);
  Verifier verifier(plan);
  StoreCounts all = count_markers(plan, [&](const PlannedUnit& unit, const Json& marker) {
    if (!sample || some.count(unit.name) != 0) verifier.unit(unit, marker);
  });
  Verified verified{sample ? static_cast<std::int64_t>(some.size()) : all.units_done, verifier.members(),
                    std::move(all.faults), !verifier.faults().empty()};
  verified.faults.insert(verified.faults.end(), verifier.faults().begin(), verifier.faults().end());
  return verified;
}

}  // namespace

int run_verify(const Options& options) {
  const auto place = open_store(options.work.store);
  const std::string& store = place->place();
  const Verified done = verify(*place, options.work.sample);
  if (options.json) {
    fmt::print("{}\n", json_text({{"units", done.units}, {"members", done.members}, {"faults", done.faults}}, -1));
  } else {
    fmt::print("{}: {}, {}, {}\n", store, counted(done.units, "unit"), counted(done.members, "member"),
               counted(static_cast<std::int64_t>(done.faults.size()), "fault"));
  }
  for (const std::string& fault : done.faults) fmt::print(stderr, "saccade: {}: {}\n", store, fault);
  if (done.of_units)
    fmt::print(stderr, "saccade: {}: remove commits/UNIT.json of such a unit, and `work` does it again\n", store);
  return static_cast<int>(done.faults.empty() ? ExitCode::kOk : ExitCode::kUnexpected);
}

}  // namespace saccade
