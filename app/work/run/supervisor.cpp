#include "app/work/run/supervisor.h"

#include <fmt/format.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "app/options/hint_flags.h"
#include "app/process/exit_code.h"
#include "app/work/judge/folder.h"
#include "app/work/plan/input_facts.h"
#include "pipeline/options/values.h"

namespace saccade {
namespace {

constexpr auto kTick = std::chrono::milliseconds(200);
constexpr auto kEnding = std::chrono::milliseconds(5);  // between looks whether a worker has ended
constexpr auto kTouch = std::chrono::seconds(60);
constexpr auto kBackoff = std::chrono::seconds(1);  // then four
constexpr std::size_t kMostUnits = 20;              // that wait for what is held: what is done of them takes room

void remove_dump(OpenItem& item) {
  std::error_code ignored;
  if (!item.result.directory.empty()) std::filesystem::remove_all(item.result.directory, ignored);
}

}  // namespace

Supervisor::Supervisor(const Options& options, const Plan& plan, const Attempt& attempt, Units& units,
                       const Ended& earlier, Tally& tally, int wake_fd, int done_fd)
    : options_(options),
      plan_(plan),
      attempt_(attempt),
      units_(units),
      tally_(tally),
      wake_fd_(wake_fd),
      done_fd_(done_fd),
      roster_(options, plan, attempt.path()),
      ended_(earlier),
      touch_at_(WorkClock::now() + kTouch),
      fetcher_(attempt.path(), [done_fd] { eventfd_write(done_fd, 1); }) {
  for (std::string& key : split(options.work.gone, ',')) gone_.insert(std::move(key));
}

void Supervisor::stop(WorkStop stop) {
  if (!stop_) stop_ = std::move(stop);
}

std::optional<WorkStop> Supervisor::run() {
  try {
    check_ended();  // what ended before may be enough
    do {
      while (!stop_ && !units_.all_done()) step();
    } while (!stop_ && units_.reopen_unmarked());
  } catch (const Error& error) {  // the store can't be read, or no worker can be started
    stop({static_cast<int>(exit_code(error.kind())), error_text(error)});
  }
  if (roster_.notes() > 1)
    fmt::print(stderr, "saccade: {}: {} inputs were written to after `plan`, with as many bytes as before\n",
               plan_.store().place(), roster_.notes());
  roster_.kill_all();
  if (stop_) units_.drop_uncommitted();
  return stop_;
}

void Supervisor::step() {
  open_units();
  fetch();
  const bool last = !units_.may_open() && unfetched_.empty();
  roster_.feed(probes_.waiting.empty() ? waiting_ : probes_.waiting, last);
  roster_.feed_alone(alone_);
  wait();
  for (RosterEvent& event : roster_.listen()) hear(event);
  roster_.watch_times();
  if (roster_.stop()) return stop(*roster_.stop());
  if (auto fault = units_.take_committed()) return stop(std::move(*fault));
  for (const EndedUnit& unit : units_.look_again()) ended_.add(unit);
  decide_held();
  if (!anything_waits()) roster_.retire_idle();
  tally_.report_if_due(units_.counts());
  if (WorkClock::now() >= touch_at_) {
    attempt_.touch();
    touch_at_ = WorkClock::now() + kTouch;
  }
}

void Supervisor::open_units() {
  const auto wanted = static_cast<std::size_t>(roster_.slots());
  while (!stop_ && waiting_.size() + unfetched_.size() < wanted) {
    OpenUnit* unit = units_.open_next();
    if (unit == nullptr) return;
    for (auto& item : unit->items) {
      item->past.settled = gone_.count("all") != 0 || gone_.count(item->item.key) != 0;
      (is_fetched(item->item.uri) ? unfetched_ : waiting_).push_back(item.get());
    }
  }
}

// As many as may run are fetched ahead; their files take room.
void Supervisor::fetch() {
  const auto most = static_cast<std::size_t>(2 * roster_.slots());
  const auto next = [this](std::deque<OpenItem*>& items) {
    OpenItem* item = items.front();
    items.pop_front();
    item->number = roster_.next_number();
    ++item->attempts;
    fetcher_.begin(*item);
  };
  auto& probes = probes_.waiting;
  while (!probes.empty() && is_fetched(probes.front()->item.uri) && probes.front()->item.local.empty()) next(probes);
  while (!unfetched_.empty() && waiting_.size() + static_cast<std::size_t>(fetcher_.in_flight()) < most)
    next(unfetched_);
  for (Fetched& fetched : fetcher_.take()) {
    const bool here = fetched.end.signs.end == AttemptEnd::kDone;
    if (here || fetched.end.why.kind == kChanged) note_read(*fetched.item);
    if (here && !fetched.item->is_probe()) {
      --fetched.item->attempts;
      waiting_.push_back(fetched.item);
    } else {
      decide(*fetched.item, std::move(fetched.end));
    }
  }
}

void Supervisor::wait() {
  std::vector<pollfd> fds = {{wake_fd_, POLLIN, 0}, {done_fd_, POLLIN, 0}};
  roster_.watch(fds);
  if (units_.all_done()) return;
  const int found = poll(fds.data(), fds.size(), static_cast<int>((roster_.any_ends() ? kEnding : kTick).count()));
  roster_.forgive_pause();  // before anything is heard: a pause nearly always falls into poll()
  if (found < 0) return;
  if ((fds[0].revents & (POLLIN | POLLHUP)) != 0) stop({static_cast<int>(ExitCode::kInterrupted), {}});
  eventfd_t ignored = 0;
  eventfd_read(done_fd_, &ignored);
  const auto now = WorkClock::now();
  std::erase_if(later_, [&](OpenItem* item) {
    if (item->not_before > now) return false;
    const bool unfetched = is_fetched(item->item.uri) && item->item.local.empty();
    (unfetched ? unfetched_ : waiting_).push_front(item);
    return true;
  });
}

void Supervisor::hear(RosterEvent& event) {
  OpenItem& item = *event.item;
  switch (event.kind) {
    case RosterEvent::Kind::kFrames:
      return note_read(item);
    case RosterEvent::Kind::kUnbegun:
      if (item.is_probe()) return probes_.waiting.push_back(&item);
      return (event.was_alone ? alone_ : waiting_).push_front(&item);
    case RosterEvent::Kind::kEnd:
      if (event.end.signs.end == AttemptEnd::kDone || event.end.signs.read == true) note_read(item);
      return decide(item, std::move(event.end));
  }
}

void Supervisor::decide(OpenItem& item, ItemEnd end) {
  if (stop_) return;
  if (item.is_probe()) {
    remove_dump(item);
    Fetcher::remove(item);
    return probes_.end(item);
  }
  switch (judge(end.signs, item.past)) {
    case Verdict::kDone:
      item.result.damage = std::move(end.damage);
      item.result.frames = end.frames;
      item.result.shown_s = end.shown_s;
      return finish(item, std::nullopt);
    case Verdict::kQuarantine:
      return finish(item, std::move(end.why));
    case Verdict::kHold:
      return hold(item, std::move(end.why));
    case Verdict::kAlone:
      return alone_.push_back(&item);
    case Verdict::kLater:
      remove_dump(item);
      item.not_before = WorkClock::now() + kBackoff * (item.past.failures == 1 ? 1 : 4);
      return later_.push_back(&item);
  }
}

void Supervisor::hold(OpenItem& item, GivenUp why) {
  remove_dump(item);
  Fetcher::remove(item);
  fmt::print(stderr, "saccade: {}: held back ({}): {}\n", item.item.key, why.kind, why.line);
  item.held = std::move(why);
  held_.hold(folder_of(item.item), &item, roster_.begun());
}

// Something of it was read, which tells of its folder. A file that was fetched says nothing more of its bucket.
void Supervisor::note_read(const OpenItem& item) {
  const std::vector<OpenItem*> again = held_.read(held_.empty() ? "" : folder_of(item.item), item.number);
  if (!again.empty()) probes_.forget();
  for (OpenItem* other : again) {
    other->past.settled = true;
    (is_fetched(other->item.uri) ? unfetched_ : waiting_).push_front(other);
  }
}

bool Supervisor::anything_waits() const {
  return units_.may_open() || !waiting_.empty() || !unfetched_.empty() || !later_.empty() || !alone_.empty() ||
         !probes_.waiting.empty() || fetcher_.in_flight() > 0;
}

// If nothing but held videos is left, or too many are held, others of their folders are tried, from the whole plan. If
// none of these can be read the work stops, and quarantines nothing that is held.
void Supervisor::decide_held() {
  if (held_.empty() || stop_ || !probes_.all_ended()) return;
  std::set<const OpenUnit*> units;
  for (const OpenItem* item : held_.items()) units.insert(item->unit);
  const bool many = held_.too_many_in_a_row() || units.size() >= kMostUnits;
  const bool last = !anything_waits() && roster_.is_idle() && !units_.is_committing();
  if (!many && !last) return probes_.forget();
  if (!probes_.drawn() && probes_.draw(plan_, held_)) return;
  stop({static_cast<int>(ExitCode::kUnexpected),
        held_line(held_, plan_.store().place(), options_.command == Command::kDump)});
}

void Supervisor::finish(OpenItem& item, std::optional<GivenUp> why) {
  Fetcher::remove(item);
  ended_.add(why.has_value());
  if (why) {
    fmt::print(stderr, "saccade: {}: quarantined ({}): {}\n", item.item.key, why->kind, why->line);
    remove_dump(item);
    item.result.directory.clear();
  }
  units_.end(item, std::move(why));
  check_ended();  // before it is committed
  if (!stop_) units_.commit_ended(*item.unit);
}

void Supervisor::check_ended() {
  const bool more = units_.counts().pending > static_cast<std::int64_t>(held_.count());
  if (!more || !ended_.too_many_bad()) return;
  const std::string flag = options_.command == Command::kDump ? "" : "--max-bad ";  // which has no such option
  stop({static_cast<int>(ExitCode::kUnexpected),
        fmt::format("{}: is the installation broken? Once it is mended, or where it is the videos, `saccade work {} "
                    "--max-bad 100` goes on",
                    ended_.line(flag), plan_.store().place()),
        false});  // what was quarantined stays
}

}  // namespace saccade
