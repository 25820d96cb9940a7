#include "app/work/plan/trial.h"

#include <fmt/format.h>
#include <poll.h>

#include <chrono>
#include <filesystem>

#include "app/counted.h"
#include "app/options/origins.h"
#include "app/process/process_name.h"
#include "app/work/process/worker_process.h"
#include "pipeline/error.h"

namespace saccade {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kLongest = std::chrono::seconds(60);  // for all of them
constexpr auto kTick = std::chrono::milliseconds(200);

// A folder for what the trial writes; empty dumps of a frame each.
class Scratch {
 public:
  Scratch() : path_(std::filesystem::temp_directory_path() / fmt::format("saccade-trial.{}", process_name())) {
    std::error_code ignored;
    std::filesystem::create_directories(path_, ignored);
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::string path() const { return path_.string(); }

 private:
  const std::filesystem::path path_;
};

// What the device and its decoder do is not tried here: the machine that plans may have none.
Json options_json(const Json& facts) {
  Json texts = facts.at("options");
  for (const auto& [name, text] : facts.at("settings").items()) texts[name] = text;
  for (const char* of_device : {"device", "require-hwdec", "upload"}) texts.erase(of_device);
  texts["backend"] = "cpu";
  texts["hwdec"] = "no";
  return texts;
}

struct Answers {
  std::size_t ended = 0;
  bool taken = false;
  std::string refusal;  // the first one; empty: none
};

// False: the process can answer nothing more.
bool hear(const Json& event, Answers& answers) {
  const std::string kind = event.value("event", "");
  if (kind == "fatal") return false;
  if (kind != "done" && kind != "failed") return true;
  ++answers.ended;
  if (kind == "done") answers.taken = true;
  if (event.value("class", "") == "options" && answers.refusal.empty()) answers.refusal = event.value("line", "");
  return true;
}

}  // namespace

void try_options(const Options& options, const Json& facts, const std::vector<WorkItem>& items) {
  if (items.empty()) return;
  const Scratch scratch;
  const Json texts = options_json(facts);
  Json origins = Json::object();
  for (const auto& [name, text] : texts.items()) origins[name] = origin_of(name);
  WorkerProcess process(options.log_level == "info" ? "warn" : options.log_level);
  process.send({{"options", texts},
                {"origins", origins},
                {"jobs", 1},
                {"share", 1},
                {"cores", 1},
                {"device", -1},
                {"beat_s", 60}});
  const auto send = [&](const WorkItem& item) {
    process.send({{"item", item_json(item)},
                  {"path", item.uri},
                  {"dir", fmt::format("{}/{}", scratch.path(), item.key)},
                  {"first_frame", true}});
  };
  Answers answers;
  send(items.front());
  const auto end = Clock::now() + kLongest;
  for (bool goes_on = true; goes_on && !answers.taken && answers.ended < items.size() && Clock::now() < end;) {
    pollfd fd = {process.read_fd(), POLLIN, 0};
    poll(&fd, 1, static_cast<int>(kTick.count()));
    process.flush();
    const std::size_t before = answers.ended;
    for (const Json& event : process.receive()) goes_on = goes_on && hear(event, answers);
    if (answers.ended > before && answers.ended < items.size() && !answers.taken) send(items[answers.ended]);
    goes_on = goes_on && !process.closed();
  }
  const bool all_heard = answers.ended == items.size();  // one that crashes or takes too long may take the options
  if (answers.taken || answers.refusal.empty() || !all_heard) return;
  throw UsageError(fmt::format("{}; {} from all over {} tried, and no video takes the plan's options", answers.refusal,
                               counted(static_cast<std::int64_t>(answers.ended), "video"),
                               answers.ended == 1 ? "was" : "were"));
}

}  // namespace saccade
