// Inputs that can't be read: Note [Held inputs] in app/work/judge/held.h.
#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "app/counted.h"
#include "app/exit_code.h"
#include "app/work/judge/folder.h"
#include "app/work/supervisor_state.h"

namespace saccade {
namespace {

constexpr std::size_t kMostUnits = 20;    // that wait for what is held: what is done of them takes room
constexpr std::size_t kSiblings = 20;     // that are tried, of a folder
constexpr std::size_t kCandidates = 200;  // of which they are taken: others may be links to elsewhere

// Some of many that come one by one, each with the same chance.
class Sample {
 public:
  void add(WorkItem item) {
    ++seen_;
    if (chosen_.size() < kCandidates) return chosen_.push_back(std::move(item));
    const std::size_t at = std::uniform_int_distribution<std::size_t>(0, seen_ - 1)(chance_);
    if (at < kCandidates) chosen_[at] = std::move(item);
  }
  std::vector<WorkItem> take() { return std::move(chosen_); }

 private:
  std::vector<WorkItem> chosen_;
  std::size_t seen_ = 0;
  std::minstd_rand chance_;
};

}  // namespace

// The end of an item that has had its tries. read: was_read().
void Supervisor::give_up(Item& item, GivenUp why, std::optional<bool> read) {
  const bool settled = item.was_held || item.is_borrowed() || gone_.count(item.item.key) != 0;
  if (read != false || settled) return finish(item, std::move(why));
  hold(item, std::move(why));
}

void Supervisor::hold(Item& item, GivenUp why) {
  std::error_code ignored;
  std::filesystem::remove_all(item.result.directory, ignored);
  fmt::print(stderr, "saccade: {}: held back ({}): {}\n", item.item.key, why.kind, why.line);
  item.suspicion = std::move(why);
  held_.hold(folder_of(item.item), &item, begun_);
}

// Something of it was read, which tells of its folder.
void Supervisor::note_read(const Item& item) {
  const std::vector<Item*> again = held_.read(held_.empty() ? "" : folder_of(item.item), item.number);
  if (!again.empty()) siblings_drawn_ = false;
  for (Item* other : again) {
    other->was_held = true;
    if (other->item.fault.is_object())
      finish(*other, std::move(other->suspicion));
    else
      waiting_.push_front(other);
  }
}

// Others of the plan that lie in the folders of those that are held. False: there are none.
bool Supervisor::draw_siblings() {
  std::map<std::string, Sample> samples;  // by the folders as they are written
  std::set<std::string> held;
  for (const Item* item : held_.items()) {
    samples[written_folder(item->item)];
    held.insert(item->item.uri);
  }
  for (const PlannedUnit& unit : plan_.units()) {
    for (WorkItem& item : plan_.items(unit)) {
      const auto sample = samples.find(written_folder(item));
      if (sample != samples.end() && !item.fault.is_object() && held.count(item.uri) == 0)
        sample->second.add(std::move(item));
    }
  }
  std::map<std::string, std::size_t> drawn;
  for (const std::string& folder : held_.folders()) drawn[folder] = 0;
  for (auto& [written, sample] : samples) {
    for (WorkItem& item : sample.take()) {
      const auto folder = drawn.find(folder_of(item));
      if (folder == drawn.end() || ++folder->second > kSiblings) continue;
      siblings_.push_back(std::make_unique<Item>());
      siblings_.back()->item = std::move(item);
      siblings_.back()->is_sibling = true;
      probes_.push_back(siblings_.back().get());
    }
  }
  return !siblings_.empty();
}

// If nothing but held items is left, or too many are held, others of their folders are tried: of other units, of other
// shares, and those that are done. If none of these can be read the work stops, and gives up nothing that is held.
void Supervisor::decide_held() {
  if (held_.empty() || stop_ || !siblings_.empty()) return;
  std::set<const Unit*> units;
  for (const Item* item : held_.items()) units.insert(item->unit);
  const bool many = held_.too_many_in_a_row() || units.size() >= kMostUnits;
  const bool last = is_idle() && committing_ == 0;
  if (!many && !last) {
    siblings_drawn_ = false;
  } else if (!siblings_drawn_ && draw_siblings()) {
    siblings_drawn_ = true;
  } else {
    stop(static_cast<int>(ExitCode::kUnexpected), held_line());
  }
}

std::string Supervisor::held_line() const {
  const std::vector<std::string> folders = held_.folders();
  const std::string& folder = folders.front();
  const bool network = folder == kNetwork, bucket = folder.find("://") != folder.npos;
  const Item& first = *held_.items().front();
  const bool dumps = options_.command == Command::kDump;  // which has no such option
  return fmt::format(
      "no video {} can be read here{}: {} held back, the first one, {}: {}; {}; where a video no longer exists, {}",
      network ? "from the network" : "in " + folder,
      folders.size() > 1 ? fmt::format(", nor any in {} other folders", folders.size() - 1) : "",
      counted(static_cast<std::int64_t>(held_.count()), "video"), first.item.key, first.suspicion->line,
      network || bucket ? "give this machine access" : "mount the folder, or make it readable",
      dumps ? fmt::format("`saccade work {} --gone {}` goes on", plan_.store(), first.item.key)
            : fmt::format("add --gone {}", first.item.key));
}

}  // namespace saccade
