// What goes wrong, and what then.
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "app/exit_code.h"
#include "app/input_identity.h"
#include "app/options/hint_flags.h"
#include "app/work/supervisor_state.h"

namespace saccade {
namespace {

constexpr int kIoTries = 3;
constexpr auto kBackoff = std::chrono::seconds(1);  // then four
constexpr auto kPause = std::chrono::seconds(5);
constexpr int kMostCrashes = 20;
constexpr int kMostKills = 3;  // by somebody, of a worker that has the item alone
constexpr double kTimesExpected = 20;
constexpr double kFramesASecond = 30;
constexpr std::int64_t kLeastForSpeed = 3;

std::string death(const ProcessEnd& end, std::int64_t frames) {
  const std::string how = end.signal ? fmt::format("signal {} ({})", *end.signal, strsignal(*end.signal))
                                     : fmt::format("exit code {}", end.exit.value_or(0));
  return fmt::format("the program died of it: {}, after {} frames", how, frames);
}

// Or for want of memory: it says nothing of the video. A whole group of processes may hear of its end one by one.
bool by_somebody(const ProcessEnd& end) {
  return end.signal == SIGKILL || end.signal == SIGTERM || end.signal == SIGINT || end.signal == SIGHUP;
}

}  // namespace

void Supervisor::again_alone(Item& item, GivenUp why) {
  if (item.is_borrowed() && !is_witness(item)) return finish(item, std::nullopt);
  item.suspicion = std::move(why);
  alone_.push_back(&item);
}

void Supervisor::try_again(Item& item, GivenUp why, std::optional<bool> read) {
  if (++item.io_tries >= kIoTries || (item.is_borrowed() && !is_witness(item)))
    return give_up(item, std::move(why), read);
  std::error_code ignored;
  std::filesystem::remove_all(item.result.directory, ignored);
  item.not_before = Clock::now() + kBackoff * (item.io_tries == 1 ? 1 : 4);
  later_.push_back(&item);
}

// All that were in flight are suspects, but for a worker that was stopped because some of them hung.
void Supervisor::bury(Worker& worker, const ProcessEnd& end) {
  const bool well = end.exit == 0 && worker.items.empty();
  if (well || stop_) return;
  const bool stopped = !worker.hanging.empty();
  const bool begun =
      std::any_of(worker.items.begin(), worker.items.end(), [](const Item* item) { return item->started; });
  if (!stopped && !begun && ++early_deaths_ >= kMostCrashes) {
    return stop(static_cast<int>(ExitCode::kUnexpected),
                fmt::format("the program crashed {} times in a row, before it began a video ({}): is the installation "
                            "broken?",
                            early_deaths_, death(end, 0)));
  }
  for (Item* item : worker.items) {
    std::error_code ignored;
    std::filesystem::remove_all(item->result.directory, ignored);
    const bool hung = std::find(worker.hanging.begin(), worker.hanging.end(), item) != worker.hanging.end();
    if (stopped ? hung : item->started) {
      blame(worker, *item, end);
    } else if (item->is_borrowed() && !is_witness(*item)) {
      finish(*item, std::nullopt);
    } else {
      --item->attempts;
      (worker.alone ? alone_ : waiting_).push_front(item);
    }
  }
}

void Supervisor::blame(Worker& worker, Item& item, const ProcessEnd& end) {
  const bool stopped = !worker.hanging.empty();
  GivenUp why{stopped ? "timeout" : "crash",
              {},
              stopped ? std::nullopt : end.exit,
              stopped ? std::nullopt : end.signal,
              item.attempts};
  const double running_s = std::chrono::duration<double>(Clock::now() - item.started_at).count();
  why.line = stopped ? fmt::format("no end after {:.1f} s, {} frames, the last one {:.1f} s ago", running_s,
                                   item.frames, std::chrono::duration<double>(Clock::now() - item.moved_at).count())
                     : death(end, item.frames);
  const bool killed = !stopped && by_somebody(end);
  const bool again = !worker.alone || (killed && ++item.kills_alone < kMostKills);
  if (again) return again_alone(item, std::move(why));
  // Who says that videos may be bad, all of them, is not asked about the installation.
  if (!stopped && ++crashes_ >= kMostCrashes && !ended_.may_all_be_bad() && more_is_left(1)) {
    return stop(
        static_cast<int>(ExitCode::kUnexpected),
        fmt::format("the program crashed {} times in a row, each time with another video alone, the last time so: "
                    "{}: is the installation broken? Where it is the videos, {}",
                    crashes_, why.line, way_out()));
  }
  finish(item, std::move(why));
}

// That others are faster than they are shown says nothing of one that is larger.
double Supervisor::timeout_s(const Item& item) const {
  const double mean = done_items_ >= kLeastForSpeed && done_wall_s_ > 0 ? done_media_s_ / done_wall_s_ : 1;
  const double speed = std::min(mean, 1.0);
  // A file's length may be guessed from its bytes; that of what never ends isn't what it gave so far.
  const double given_s = regular_file(item.item.path()).empty() ? 0 : static_cast<double>(item.frames) / kFramesASecond;
  const double media_s = std::max(item.item.media_s, given_s);
  return std::max(options_.work.video_timeout_s, kTimesExpected * media_s / std::max(speed, 1e-6));
}

// This process was stopped, or its machine slept: that time counts against nobody.
void Supervisor::forgive_pause() {
  const auto now = Clock::now();
  const auto pause = now - looped_at_;
  looped_at_ = now;
  if (pause < kPause) return;
  for (auto& worker : workers_) {
    worker->heard_at += pause;
    worker->beat_at += pause;
    for (Item* item : worker->items) {
      item->started_at += pause;
      item->moved_at += pause;
      if (item->writing_since) *item->writing_since += pause;
    }
  }
}

// False: it neither starts nor ends, and the work stops.
bool Supervisor::watch_process(Worker& worker) {
  worker.process->kill_if_due();
  const char* fault = nullptr;
  if (worker.process->survives_kill()) {
    fault = "a worker can't be ended: it waits for a disk or a device that doesn't answer";
  } else if (!worker.heard && Clock::now() - worker.heard_at > kLongestStart) {
    fault = "a worker said nothing for 120 s after its start: is the installation broken?";
  }
  if (fault != nullptr) stop(static_cast<int>(ExitCode::kUnexpected), fault);
  return fault == nullptr;
}

bool Supervisor::disk_is_stalled() const {
  const auto since = Clock::now() - std::chrono::duration<double>(options_.work.frame_timeout_s);
  return std::any_of(workers_.begin(), workers_.end(), [since](const auto& worker) {
    return std::any_of(worker->items.begin(), worker->items.end(),
                       [since](const Item* item) { return item->writing_since && *item->writing_since < since; });
  });
}

void Supervisor::watch_times() {
  const auto now = Clock::now();
  const auto since = [now](Clock::time_point then) { return std::chrono::duration<double>(now - then).count(); };
  const bool stalled = disk_is_stalled();
  if (stalled && !std::exchange(stall_warned_, stalled)) {
    fmt::print(stderr, "saccade: {}: the output disk takes nothing: waiting for it, nothing is given up\n", store_);
  }
  stall_warned_ = stalled;
  for (auto& worker : workers_) {
    if (!watch_process(*worker)) return;
    if (!worker->alone) renew(*worker);
    if (worker->process->terminating()) continue;
    const bool silent = since(worker->heard_at) > options_.work.frame_timeout_s;  // it can't even say how far it is
    for (Item* item : worker->items) {
      if (!item->started) continue;
      const bool hangs =
          silent || since(item->moved_at) > options_.work.frame_timeout_s || since(item->started_at) > timeout_s(*item);
      if (hangs) worker->hanging.push_back(item);
    }
    if (worker->hanging.empty()) continue;
    worker->retiring = true;
    worker->process->terminate();
  }
}

void Supervisor::finish(Item& item, std::optional<GivenUp> why) {
  std::error_code ignored;
  if (item.is_borrowed()) {
    std::filesystem::remove_all(item.result.directory, ignored);
    if (is_witness(item)) return witness_answers(why);
    siblings_.remove_if([&item](const auto& sibling) { return sibling.get() == &item; });
    return;
  }
  item.ended = true;
  ended_.add(why.has_value());
  Counts& counts = tally_.counts();
  --counts.pending;
  counts.ended_s += item.item.media_s;
  if (why) {
    ++counts.quarantined;
    ++counts.classes[why->kind];
    fmt::print(stderr, "saccade: {}: given up ({}): {}\n", item.item.key, why->kind, why->line);
    std::filesystem::remove_all(item.result.directory, ignored);
    item.result.directory.clear();
  } else {
    ++(item.result.damage.empty() ? counts.done : counts.damaged);
    counts.frames += item.result.frames;
    counts.media_s += item.result.shown_s;
  }
  item.result.given_up = std::move(why);
  --item.unit->left;
  check_bad();  // before it is committed
  close_if_ended(*item.unit);
}

// What was given up while the witness is asked waits for its answer.
void Supervisor::close_if_ended(Unit& unit) {
  const bool any_bad =
      std::any_of(unit.items.begin(), unit.items.end(), [](const auto& item) { return item->result.given_up; });
  if (unit.left == 0 && !stop_ && (witness_ == nullptr || !any_bad)) close_unit(unit);
}

void Supervisor::close_unit(Unit& unit) {
  UnitResult result;
  result.unit = unit.planned;
  result.wall_s = std::chrono::duration<double>(Clock::now() - unit.begin).count();
  for (auto& item : unit.items) {
    item->result.item = std::move(item->item);
    result.items.push_back(std::move(item->result));
  }
  ++committing_;
  committer_->add(std::move(result));
  open_.remove_if([&unit](const auto& open) { return open.get() == &unit; });
}

void Supervisor::take_committed() {
  for (const Committed& unit : committer_->take()) {
    --committing_;
    if (unit.won) continue;
    for (const ItemResult& item : unit.result.items) uncount(item.item, item);
    if (unit.fault) {
      stop(static_cast<int>(exit_code(unit.fault->kind)), error_text(*unit.fault));
    } else {
      fmt::print(stderr, "saccade: unit {}: another run has committed it meanwhile\n", unit.result.unit->name);
      count_marker(*unit.result.unit);
    }
  }
}

// Of an item that ended, and whose unit this run has not committed.
void Supervisor::uncount(const WorkItem& item, const ItemResult& result) {
  Counts& counts = tally_.counts();
  ++counts.pending;
  counts.ended_s -= item.media_s;
  if (result.given_up) {
    --counts.quarantined;
    if (--counts.classes[result.given_up->kind] == 0) counts.classes.erase(result.given_up->kind);
    return;
  }
  --(result.damage.empty() ? counts.done : counts.damaged);
  counts.frames -= result.frames;
  counts.media_s -= result.shown_s;
}

// What has no marker when the work stops is to be done again, and is pending.
void Supervisor::uncount_all_open() {
  for (const UnitResult& unit : committer_->end()) {
    for (const ItemResult& item : unit.items) uncount(item.item, item);
  }
  take_committed();
  for (const auto& unit : open_) {
    for (const auto& item : unit->items) {
      if (item->ended) uncount(item->item, item->result);
    }
  }
}

}  // namespace saccade
