// Which worker gets which video.
#include <fmt/format.h>

#include <algorithm>

#include "app/dump/dump_task.h"
#include "app/options/hint_flags.h"
#include "app/options/origins.h"
#include "app/process/cores.h"
#include "app/work/run/roster_worker.h"
#include "pipeline/backend/backend.h"

namespace saccade {
namespace {

constexpr int kAhead = 2;  // items that a worker has beside those that it runs

Backend backend_of(const Plan& plan) {
  const std::string text = plan.facts().at("backend");
  if (const auto backend = backend_named(text)) return *backend;
  throw UsageError(fmt::format("the plan's backend is {}, which this program doesn't know", text));
}

// How the user knows the options of the plan: this command gave them, or an earlier one that froze them.
Json origins_in(const Plan& plan, Command command) {
  Json origins = Json::object();
  for (const auto& [name, text] : plan.run_options()) {
    origins[name] =
        command == Command::kDump ? origin_of(name) : fmt::format("{}: {}", plan.store().path("plan/plan.json"), name);
  }
  for (const char* name : {"start", "duration", "stream"}) {
    origins[name] = fmt::format("{}: {}", plan.store().path("plan/items.jsonl"), name);
  }
  return origins;
}

}  // namespace

Roster::Roster(const Options& options, const Plan& plan, std::string folder)
    : options_(options),
      plan_(plan),
      folder_(std::move(folder)),
      devices_(options.work.devices),
      looped_at_(WorkClock::now()) {
  const Backend backend = backend_of(plan);
  if (!devices_.empty() && !traits(backend).numbered) {
    throw UsageError(OfOption("gpus"), fmt::format("the plan's backend is {}; leave it out", name(backend)));
  }
  if (devices_.empty()) devices_ = {-1};
  const int cores = options.work.cores.value_or(usable_cores());
  jobs_ = options.jobs.count.value_or(std::max(default_jobs(backend, cores) / options.work.workers_per_gpu, 1));
  cores_ = std::max(cores / options.work.workers_per_gpu / static_cast<int>(devices_.size()), 1);
}

Roster::~Roster() { kill_all(); }

int Roster::slots() const { return jobs_ * options_.work.workers_per_gpu * static_cast<int>(devices_.size()); }

void Roster::kill_all() {
  for (auto& worker : workers_) worker->process->kill_now();  // to end takes a device's process long: all at once
  workers_.clear();
}

Roster::Worker& Roster::start(bool alone, int device) {
  auto worker = std::make_unique<Worker>();
  worker->process = std::make_unique<WorkerProcess>(options_.log_level == "info" ? "warn" : options_.log_level);
  worker->alone = alone;
  worker->device = device;
  worker->heard_at = worker->beat_at = WorkClock::now();
  worker->process->send({{"options", json_of(plan_.run_options())},
                         {"origins", origins_in(plan_, options_.command)},
                         {"jobs", alone ? 1 : jobs_},
                         {"share", jobs_},  // also alone: its threads are those of a run beside others
                         {"cores", cores_},
                         {"device", device},
                         {"beat_s", std::min(0.5, options_.work.frame_timeout_s / 4)}});
  workers_.push_back(std::move(worker));
  return *workers_.back();
}

void Roster::give(Worker& worker, OpenItem& item) {
  ++item.attempts;
  ++worker.given;
  if (item.item.local.empty()) item.number = next_number();
  item.past.alone = worker.alone;
  item.started = false;
  item.frames = 0;
  item.writing_since.reset();
  item.result.directory = fmt::format("{}/{}.{}", folder_, item.item.key, directories_++);  // no other attempt had it
  worker.items.push_back(&item);
  worker.process->send({{"item", item_json(item.item)},
                        {"path", item.item.path()},
                        {"dir", item.result.directory},
                        {"first_frame", item.is_probe()}});
}

bool Roster::is_idle() const {
  return std::all_of(workers_.begin(), workers_.end(), [](const auto& worker) { return worker->items.empty(); });
}

// While a worker that gets no more ends what it has, its successor has only what is left of the slots. One that is
// being stopped for a video that hangs holds up no other.
bool Roster::has_enough(int device, int most) const {
  std::size_t items = 0, of_old = 0;
  for (const auto& worker : workers_) {
    if (worker->alone || worker->device != device || worker->process->terminating()) continue;
    items += worker->items.size();
    if (worker->retiring) of_old += worker->items.size();
  }
  return static_cast<int>(items) >= (of_old > 0 ? jobs_ : most) * options_.work.workers_per_gpu;
}

void Roster::feed(std::deque<OpenItem*>& next, bool last) {
  if (next.empty()) return;
  const int most = last && next.size() <= static_cast<std::size_t>(slots()) ? jobs_ : jobs_ + kAhead;
  for (const int device : devices_) {
    const auto there = std::count_if(workers_.begin(), workers_.end(), [device](const auto& worker) {
      return !worker->alone && !worker->retiring && worker->device == device;
    });
    for (auto i = there; i < options_.work.workers_per_gpu; ++i) start(false, device);
  }
  for (bool any = true; any && !next.empty();) {  // evenly
    any = false;
    for (auto& worker : workers_) {
      if (worker->alone || worker->retiring || next.empty()) continue;
      if (static_cast<int>(worker->items.size()) >= most || has_enough(worker->device, most)) continue;
      OpenItem* item = next.front();
      next.pop_front();
      give(*worker, *item);
      any = true;
      renew(*worker);
    }
  }
}

void Roster::feed_alone(std::deque<OpenItem*>& next) {
  if (next.empty()) return;
  Worker* free = nullptr;
  bool any = false;
  for (auto& worker : workers_) {
    if (!worker->alone || worker->retiring) continue;
    any = true;
    if (worker->items.empty()) free = worker.get();
  }
  if (!any) free = &start(true, devices_.front());
  if (free == nullptr) return;
  OpenItem* item = next.front();
  next.pop_front();
  give(*free, *item);
}

// A worker that has had enough gets no more, ends, and another one takes its place.
void Roster::renew(Worker& worker) {
  const double limit = options_.work.max_rss_mb.value_or(0) * 1e6;
  const bool fat = limit > 0 && static_cast<double>(worker.process->rss_bytes()) > limit;
  if (worker.retiring || worker.given == 0 || (worker.given < options_.work.renew_after && !fat)) return;
  worker.retiring = true;
  worker.process->close_input();
}

void Roster::retire_idle() {
  for (auto& worker : workers_) {
    if (!worker->items.empty() || worker->retiring) continue;
    worker->retiring = true;
    worker->process->close_input();
  }
}

}  // namespace saccade
