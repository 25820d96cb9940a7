#include "app/work/supervisor.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "app/cores.h"
#include "app/dump/dump_task.h"
#include "app/exit_code.h"
#include "app/input_identity.h"
#include "app/options/hint_flags.h"
#include "app/work/fault_class.h"
#include "app/work/markers.h"
#include "app/work/supervisor_state.h"
#include "pipeline/backend/backend.h"
#include "pipeline/options/values.h"
#include "pipeline/secrets.h"

namespace saccade {
namespace {

constexpr auto kTick = std::chrono::milliseconds(200);
constexpr auto kTouch = std::chrono::seconds(60);
constexpr int kFewestCommitters = 2, kMostCommitters = 8;
constexpr int kCoresACommitter = 4;
constexpr int kCommittingAhead = 2;                     // units that are done, for each that is being committed
constexpr auto kEnding = std::chrono::milliseconds(5);  // between looks whether a worker has ended

Backend backend_of(const Plan& plan) {
  const std::string text = plan.facts().at("backend");
  if (const auto backend = backend_named(text)) return *backend;
  throw UsageError(fmt::format("the plan's backend is {}, which this program doesn't know", text));
}

}  // namespace

std::string with_uri(const WorkItem& item, std::string text) {
  const std::string uri = masked_uri(item.uri);
  for (std::size_t at = 0; !item.local.empty() && (at = text.find(item.local, at)) != std::string::npos;) {
    text.replace(at, item.local.size(), uri);
    at += uri.size();
  }
  return text;
}

Supervisor::Supervisor(const Options& options, const Plan& plan, std::vector<const PlannedUnit*> units,
                       const std::vector<EndedUnit>& earlier, const std::string& store, const Attempt& attempt,
                       Tally& tally, int wake_fd)
    : options_(options),
      plan_(plan),
      store_(store),
      attempt_(attempt),
      tally_(tally),
      wake_fd_(wake_fd),
      units_(units.begin(), units.end()),
      devices_(options.work.devices),
      committed_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      crashes_(crashes_in_a_row(earlier)),
      ended_(options.work.max_bad_percent, earlier),
      touch_at_(Clock::now() + kTouch) {
  const Backend backend = backend_of(plan);
  if (!devices_.empty() && !traits(backend).numbered) {
    throw UsageError(OfOption("gpus"), fmt::format("the plan's backend is {}; leave it out", name(backend)));
  }
  if (devices_.empty()) devices_ = {-1};
  const int cores = options.work.cores.value_or(usable_cores());
  jobs_ = options.jobs.count.value_or(std::max(default_jobs(backend, cores) / options.work.workers_per_gpu, 1));
  cores_ = std::max(cores / options.work.workers_per_gpu / static_cast<int>(devices_.size()), 1);
  committer_ = std::make_unique<Committer>(UnitTarget{plan, store, attempt.path(), options.work.engine},
                                           std::clamp(cores / kCoresACommitter, kFewestCommitters, kMostCommitters),
                                           [fd = committed_fd_] { eventfd_write(fd, 1); });
  for (const EndedUnit& unit : earlier) {
    if (unit.quarantined < unit.items) done_unit_ = unit.name;
  }
  for (std::string& key : split(options.work.gone, ',')) gone_.insert(std::move(key));
}

Supervisor::~Supervisor() {
  committer_.reset();
  close(committed_fd_);
}

int Supervisor::slots() const { return jobs_ * options_.work.workers_per_gpu * static_cast<int>(devices_.size()); }

bool Supervisor::all_done() const { return units_.empty() && open_.empty() && committing_ == 0; }

void Supervisor::stop(int exit, std::string line, bool by_options) {
  if (!stop_) stop_ = WorkStop{exit, std::move(line), by_options};
}

void Supervisor::stop(const Error& error) { stop(static_cast<int>(exit_code(error.kind())), error_text(error), false); }

std::optional<WorkStop> Supervisor::run() {
  looped_at_ = Clock::now();
  try {
    check_bad();  // what ended before may say enough
    while (!stop_ && !all_done()) step();
  } catch (const Error& error) {  // the store can't be read, or no worker can be started
    stop(error);
  }
  if (notes_ > 1)
    fmt::print(stderr, "saccade: {}: {} inputs were written to after `plan`, with as many bytes as before\n", store_,
               notes_);
  for (auto& worker : workers_) worker->process->kill_now();  // to end takes a device's process long: all at once
  workers_.clear();
  if (stop_) uncount_all_open();
  return stop_;
}

void Supervisor::step() {
  open_units();
  feed();
  feed_alone();
  if (all_done()) return;
  listen();
  watch_times();
  take_committed();
  decide_held();
  decide_refused();
  ask_witness();
  let_idle_go();
  tally_.report_if_due();
  if (Clock::now() >= touch_at_) {
    attempt_.touch();
    touch_at_ = Clock::now() + kTouch;
  }
}

// Items of the next units, until there is enough for all slots; but none where the disk doesn't keep up with what is
// done. A unit that another run has done meanwhile is left out.
void Supervisor::open_units() {
  const auto wanted = static_cast<std::size_t>(slots());
  while (!units_.empty() && !stop_ && waiting_.size() < wanted &&
         committing_ <= kCommittingAhead * committer_->threads()) {
    const PlannedUnit* planned = units_.front();
    units_.pop_front();
    if (!count_marker(*planned) && !stop_) open_unit(*planned);
  }
}

// Of a unit that another run may have done; false: it has no marker.
bool Supervisor::count_marker(const PlannedUnit& planned) {
  try {
    const std::optional<Json> marker = sound_marker(plan_, store_, planned);
    if (marker) add_marker(tally_.counts(), planned, *marker);
    return marker.has_value();
  } catch (const Error& error) {
    stop(error);
    return false;
  }
}

void Supervisor::open_unit(const PlannedUnit& planned) {
  std::deque<Item*> unfetched;
  auto unit = std::make_unique<Unit>();
  unit->planned = &planned;
  unit->begin = Clock::now();
  for (WorkItem& item : plan_.items(planned)) {
    auto state = std::make_unique<Item>();
    state->item = std::move(item);
    state->unit = unit.get();
    (state->item.fault.is_object() ? unfetched : waiting_).push_back(state.get());
    unit->items.push_back(std::move(state));
  }
  unit->left = unit->items.size();
  open_.push_back(std::move(unit));
  for (Item* item : unfetched) {
    const Json& fault = item->item.fault;
    give_up(*item,
            GivenUp{fault.value("class", "io"), without_secrets(fault.value("line", "could not be fetched")),
                    std::nullopt, std::nullopt, 1},
            false);
  }
}

void Supervisor::listen() {
  std::vector<pollfd> fds = {{wake_fd_, POLLIN, 0}, {committed_fd_, POLLIN, 0}};
  for (auto& worker : workers_) {
    fds.push_back({worker->process->read_fd(), POLLIN, 0});
    if (worker->process->wants_to_write()) fds.push_back({worker->process->write_fd(), POLLOUT, 0});
  }
  const bool any_ends =
      std::any_of(workers_.begin(), workers_.end(), [](const auto& worker) { return worker->process->closed(); });
  const int found = poll(fds.data(), fds.size(), static_cast<int>((any_ends ? kEnding : kTick).count()));
  forgive_pause();  // before anything is heard: a pause nearly always falls into poll()
  if (found < 0) return;
  if ((fds[0].revents & (POLLIN | POLLHUP)) != 0) stop(static_cast<int>(ExitCode::kInterrupted), {});
  eventfd_t ignored = 0;
  eventfd_read(committed_fd_, &ignored);
  for (auto at = workers_.begin(); at != workers_.end() && !stop_;) {
    Worker& worker = **at;
    worker.process->flush();
    for (const Json& event : worker.process->receive()) {
      try {
        hear(worker, event);
      } catch (const Json::exception&) {  // not a line of ours: it writes nonsense before it dies
        worker.process->terminate();
      }
    }
    std::optional<ProcessEnd> end;
    if (worker.process->closed()) {
      worker.retiring = true;
      end = worker.process->reap();
    }
    if (!end) {
      ++at;
      continue;
    }
    bury(worker, *end);
    at = workers_.erase(at);
  }
}

Supervisor::Item* Supervisor::find(Worker& worker, const std::string& key) const {
  for (Item* item : worker.items) {
    if (item->item.key == key) return item;
  }
  return nullptr;
}

void Supervisor::hear(Worker& worker, const Json& event) {
  const auto now = Clock::now();
  worker.heard_at = now;
  worker.heard = true;
  const std::string kind = event.at("event");
  if (kind == "fatal") return stop(event.at("exit"), event.at("line"));
  if (kind == "beat") return hear_beat(worker, event);
  Item* item = find(worker, event.at("key"));
  if (item == nullptr) return;
  if (kind == "start") {
    item->started = true;
    item->started_at = item->moved_at = now;
    return;
  }
  ItemEnd end = end_of(*item, event);  // throws where it is no line of ours: then the worker has the item still
  if (event.contains("note") && ++notes_ == 1)
    fmt::print(stderr, "saccade: {}: {}\n", item->item.key, event.at("note").get<std::string>());
  std::erase(worker.items, item);
  hear_end(worker, *item, std::move(end));
}

// Time in which an item waits for the disk that it writes to counts against nobody.
void Supervisor::hear_beat(Worker& worker, const Json& event) {
  const auto now = Clock::now();
  const auto since = now - std::exchange(worker.beat_at, now);
  const Json writing = event.value("writing", Json::array());
  for (const auto& [key, frames] : event.at("frames").items()) {
    Item* item = find(worker, key);
    if (item == nullptr) continue;
    const bool moved = frames != item->frames, writes = std::find(writing.begin(), writing.end(), key) != writing.end();
    if (writes && !moved) item->started_at = std::min(item->started_at + since, now);
    if (writes || moved) item->moved_at = now;
    if (!writes) item->writing_since.reset();
    if (writes && (moved || !item->writing_since)) item->writing_since = now;
    if (!moved) continue;
    item->frames = frames;
    if (item->frames == 0) continue;
    options_suit();
    note_read(*item);
  }
}

Supervisor::ItemEnd Supervisor::end_of(const Item& item, const Json& event) {
  if (event.at("event") == "done") {
    return {std::nullopt,       false, true, with_uri(item.item, event.at("damage")), event.at("frames"),
            event.at("media_s")};
  }
  ItemEnd end;
  end.why = GivenUp{event.at("class"), with_uri(item.item, event.at("line")), event.at("exit").get<int>(), std::nullopt,
                    item.attempts};
  end.again = event.at("again");
  if (!event.at("read").is_null()) end.read = event.at("read").get<bool>();
  return end;
}

void Supervisor::hear_end(Worker& worker, Item& item, ItemEnd end) {
  if (end.read == true) note_read(item);
  if (!end.why && item.is_borrowed()) {
    options_suit();
    finish(item, std::nullopt);
  } else if (!end.why) {
    crashes_ = early_deaths_ = 0;
    options_suit();
    done_media_s_ += item.item.media_s;
    done_wall_s_ += std::chrono::duration<double>(Clock::now() - item.started_at).count();
    ++done_items_;
    if (can_be_read_again(item.item.path())) last_done_ = item.item;
    item.result.damage = std::move(end.damage);
    item.result.frames = end.frames;
    item.result.shown_s = end.shown_s;
    finish(item, std::nullopt);
  } else if (end.again) {
    try_again(item, std::move(*end.why), end.read);
  } else if (end.why->kind == "options" || end.why->kind == kHwdecUnsupported) {
    refuse(item, std::move(*end.why));
  } else {
    crashes_ = early_deaths_ = 0;
    give_up(item, std::move(*end.why), end.read);
  }
  if (!worker.alone) renew(worker);
}

}  // namespace saccade
