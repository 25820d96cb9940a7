// Workers, and which items they get.
#include <fmt/format.h>

#include <algorithm>

#include "app/options/origins.h"
#include "app/work/supervisor_state.h"

namespace saccade {
namespace {

constexpr int kAhead = 2;  // items that a worker has beside those that it runs

// How the user knows the options of the plan: this command gave them, or an earlier one that froze them.
Json origins_in(const Plan& plan, Command command) {
  Json origins = Json::object();
  for (const auto& [name, text] : plan.run_options()) {
    origins[name] =
        command == Command::kDump ? origin_of(name) : fmt::format("{}/plan/plan.json: {}", plan.store(), name);
  }
  for (const char* name : {"start", "duration", "stream"}) {
    origins[name] = fmt::format("{}/plan/items.jsonl: {}", plan.store(), name);
  }
  return origins;
}

}  // namespace

Json Supervisor::first_line(bool alone, int device) const {
  return {{"options", json_of(plan_.run_options())},
          {"origins", origins_in(plan_, options_.command)},
          {"jobs", alone ? 1 : jobs_},
          {"share", jobs_},  // also alone: its threads are those of a run beside others
          {"cores", cores_},
          {"device", device},
          {"beat_s", std::min(0.5, options_.work.frame_timeout_s / 4)}};
}

void Supervisor::start_worker(bool alone, int device) {
  auto worker = std::make_unique<Worker>();
  worker->process = std::make_unique<WorkerProcess>(options_.log_level == "info" ? "warn" : options_.log_level);
  worker->alone = alone;
  worker->device = device;
  worker->heard_at = worker->beat_at = Clock::now();
  worker->process->send(first_line(alone, device));
  workers_.push_back(std::move(worker));
}

// A folder that no other attempt of any item had.
std::string Supervisor::directory_for(Item& item) {
  return fmt::format("{}/{}.{}", attempt_.path(), item.item.key, directories_++);
}

void Supervisor::give(Worker& worker, Item& item) {
  ++item.attempts;
  ++worker.given;
  item.number = ++begun_;
  item.started = false;
  item.frames = 0;
  item.writing_since.reset();
  item.result.directory = directory_for(item);
  worker.items.push_back(&item);
  worker.process->send({{"item", item_json(item.item)},
                        {"path", item.item.path()},
                        {"dir", item.result.directory},
                        {"first_frame", item.is_borrowed()}});
}

// Whether there are items that no worker has.
bool Supervisor::anything_left() const {
  return !units_.empty() || !waiting_.empty() || !sample_.empty() || !later_.empty() || !alone_.empty() ||
         !probes_.empty();
}

bool Supervisor::is_idle() const {
  return !anything_left() &&
         std::all_of(workers_.begin(), workers_.end(), [](const auto& worker) { return worker->items.empty(); });
}

// At the end no worker keeps an item waiting that another one could begin; nor before it is known that any are taken.
int Supervisor::most_given() const {
  const bool last = units_.empty() && waiting_.size() <= static_cast<std::size_t>(slots());
  return last || !options_suit_ ? jobs_ : jobs_ + kAhead;
}

// Whether the workers of a device have all that they may. While one that gets no more ends what it has, its successor
// has only what is left of the slots. One that is being stopped for a video that hangs holds up nobody.
bool Supervisor::has_enough(int device) const {
  std::size_t items = 0, of_old = 0;
  for (const auto& worker : workers_) {
    if (worker->alone || worker->device != device || worker->process->terminating()) continue;
    items += worker->items.size();
    if (worker->retiring) of_old += worker->items.size();
  }
  return static_cast<int>(items) >= (of_old > 0 ? jobs_ : most_given()) * options_.work.workers_per_gpu;
}

void Supervisor::feed() {
  const auto now = Clock::now();
  std::erase_if(later_, [&](Item* item) {
    if (item->not_before > now) return false;
    waiting_.push_front(item);
    return true;
  });
  std::deque<Item*>& next = !probes_.empty() ? probes_ : on_trial() ? sample_ : waiting_;
  if (next.empty()) return;
  for (const int device : devices_) {
    const auto there = std::count_if(workers_.begin(), workers_.end(), [device](const auto& worker) {
      return !worker->alone && !worker->retiring && worker->device == device;
    });
    for (auto i = there; i < options_.work.workers_per_gpu; ++i) start_worker(false, device);
  }
  for (bool any = true; any && !next.empty();) {  // evenly
    any = false;
    for (auto& worker : workers_) {
      if (worker->alone || worker->retiring || next.empty()) continue;
      if (static_cast<int>(worker->items.size()) >= most_given()) continue;
      if (has_enough(worker->device)) continue;
      Item* item = next.front();
      next.pop_front();
      give(*worker, *item);
      any = true;
      renew(*worker);
    }
  }
}

void Supervisor::feed_alone() {
  if (alone_.empty()) return;
  Worker* free = nullptr;
  bool any = false;
  for (auto& worker : workers_) {
    if (!worker->alone || worker->retiring) continue;
    any = true;
    if (worker->items.empty()) free = worker.get();
  }
  if (!any) {
    start_worker(true, devices_.front());
    free = workers_.back().get();
  }
  if (free == nullptr) return;
  Item* item = alone_.front();
  alone_.pop_front();
  give(*free, *item);
}

// A worker that has had enough gets no more, ends, and another one takes its place.
void Supervisor::renew(Worker& worker) {
  const double limit = options_.work.max_rss_mb.value_or(0) * 1e6;
  const bool fat = limit > 0 && static_cast<double>(worker.process->rss_bytes()) > limit;
  if (worker.retiring || worker.given == 0 || (worker.given < options_.work.renew_after && !fat)) return;
  worker.retiring = true;
  worker.process->close_input();
}

// A worker that gets nothing more ends while others still work, and while units are committed.
void Supervisor::let_idle_go() {
  if (anything_left()) return;
  for (auto& worker : workers_) {
    if (!worker->items.empty() || worker->retiring) continue;
    worker->retiring = true;
    worker->process->close_input();
  }
}

}  // namespace saccade
