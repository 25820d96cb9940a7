#include "app/work/run/probes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <utility>

#include "app/counted.h"
#include "app/work/judge/folder.h"

namespace saccade {
namespace {

constexpr std::size_t kProbes = 20;       // that are tried, of a folder
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

bool Probes::draw(const Plan& plan, const Held<OpenItem*>& held) {
  std::map<std::string, Sample> samples;  // by the folders as they are written
  std::set<std::string> uris;
  for (const OpenItem* item : held.items()) {
    samples[written_folder(item->item)];
    uris.insert(item->item.uri);
  }
  for (const PlannedUnit& unit : plan.units()) {
    for (WorkItem& item : plan.items(unit)) {
      const auto sample = samples.find(written_folder(item));
      if (sample != samples.end() && uris.count(item.uri) == 0) sample->second.add(std::move(item));
    }
  }
  std::map<std::string, std::size_t> drawn;
  for (const std::string& folder : held.folders()) drawn[folder] = 0;
  for (auto& [written, sample] : samples) {
    for (WorkItem& item : sample.take()) {
      const auto folder = drawn.find(folder_of(item));
      if (folder == drawn.end() || ++folder->second > kProbes) continue;
      probes_.push_back(std::make_unique<OpenItem>());
      probes_.back()->item = std::move(item);
      waiting.push_back(probes_.back().get());
    }
  }
  return drawn_ = !probes_.empty();
}

void Probes::end(const OpenItem& probe) {
  probes_.remove_if([&probe](const auto& one) { return one.get() == &probe; });
}

std::string held_line(const Held<OpenItem*>& held, const std::string& store, bool by_dump) {
  const std::vector<std::string> folders = held.folders();
  const std::string& folder = folders.front();
  const bool network = folder == kNetwork, bucket = folder.find("://") != folder.npos;
  const std::vector<OpenItem*> items = held.items();  // by folders
  const auto end =
      std::find_if(items.begin(), items.end(), [&folder](auto* one) { return folder_of(one->item) != folder; });
  // Whichever worker was quicker, the line is the same.
  const OpenItem& first = **std::min_element(
      items.begin(), end, [](const OpenItem* a, const OpenItem* b) { return a->item.key < b->item.key; });
  return fmt::format(
      "no video {} can be read here{}: {} held back, the first one, {}: {}; {}; where a video no longer exists, {}",
      network ? "from the network" : "in " + folder,
      folders.size() > 1 ? fmt::format(", nor any in {} other folders", folders.size() - 1) : "",
      counted(static_cast<std::int64_t>(held.count()), "video"), first.item.key, first.held->line,
      network || bucket ? "give this machine access" : "mount the folder, or make it readable",
      by_dump ? fmt::format("`saccade work {} --gone {}` goes on", store, first.item.key)
              : fmt::format("add --gone {}", first.item.key));
}

}  // namespace saccade
