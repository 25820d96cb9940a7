// What workers report, and how they end.
#include "app/work/run/roster.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "app/files/input_identity.h"
#include "app/process/exit_code.h"
#include "app/work/run/roster_worker.h"
#include "pipeline/secrets.h"

namespace saccade {
namespace {

constexpr auto kPause = std::chrono::seconds(5);
constexpr int kMostEarlyDeaths = 20;
constexpr double kTimesExpected = 20;
constexpr double kFramesASecond = 30;
constexpr std::int64_t kLeastForSpeed = 3;

std::string death(const ProcessEnd& end, std::int64_t frames) {
  const std::string how = end.signal ? fmt::format("signal {} ({})", *end.signal, strsignal(*end.signal))
                                     : fmt::format("exit code {}", end.exit.value_or(0));
  return fmt::format("the program died of it: {}, after {} frames", how, frames);
}

// Killed by a person or for lack of memory: that does not tell anything about the video. The members of a process group
// may be killed one after another.
bool was_killed(const ProcessEnd& end) {
  return end.signal == SIGKILL || end.signal == SIGTERM || end.signal == SIGINT || end.signal == SIGHUP;
}

double seconds_since(WorkClock::time_point then) {
  return std::chrono::duration<double>(WorkClock::now() - then).count();
}

// A worker knows only what it opened.
std::string with_uri(const WorkItem& item, std::string text) {
  const std::string uri = masked_uri(item.uri);
  for (std::size_t at = 0; !item.local.empty() && (at = text.find(item.local, at)) != std::string::npos;) {
    text.replace(at, item.local.size(), uri);
    at += uri.size();
  }
  return text;
}

ItemEnd end_of(const OpenItem& item, const Json& event) {
  ItemEnd end;
  if (event.at("event") == "done") {
    end.damage = with_uri(item.item, event.at("damage"));
    end.frames = event.at("frames");
    end.shown_s = event.at("media_s");
    return end;
  }
  end.signs.end = AttemptEnd::kFailed;
  end.signs.again = event.at("again");
  if (!event.at("read").is_null()) end.signs.read = event.at("read").get<bool>();
  end.why = {event.at("class"), with_uri(item.item, event.at("line")), event.at("exit").get<int>(), std::nullopt,
             item.attempts};
  return end;
}

ItemEnd end_of(const OpenItem& item, const ProcessEnd& end, bool hung) {
  ItemEnd result;
  result.why.attempts = item.attempts;
  if (hung) {
    result.signs.end = AttemptEnd::kHung;
    result.why.kind = "timeout";
    result.why.line = fmt::format("no end after {:.1f} s, {} frames, the last one {:.1f} s ago",
                                  seconds_since(item.started_at), item.frames, seconds_since(item.moved_at));
    return result;
  }
  result.signs.end = was_killed(end) ? AttemptEnd::kKilled : AttemptEnd::kCrashed;
  result.why.kind = "crash";
  result.why.line = death(end, item.frames);
  result.why.exit = end.exit;
  result.why.signal = end.signal;
  return result;
}

}  // namespace

void Roster::fail(int exit, std::string line) {
  if (!stop_) stop_ = WorkStop{exit, std::move(line)};
}

void Roster::watch(std::vector<pollfd>& fds) const {
  for (const auto& worker : workers_) {
    fds.push_back({worker->process->read_fd(), POLLIN, 0});
    if (worker->process->wants_to_write()) fds.push_back({worker->process->write_fd(), POLLOUT, 0});
  }
}

bool Roster::any_ends() const {
  return std::any_of(workers_.begin(), workers_.end(), [](const auto& worker) { return worker->process->closed(); });
}

std::vector<RosterEvent> Roster::listen() {
  std::vector<RosterEvent> events;
  for (auto at = workers_.begin(); at != workers_.end() && !stop_;) {
    Worker& worker = **at;
    worker.process->flush();
    for (const Json& event : worker.process->receive()) {
      try {
        hear(worker, event, events);
      } catch (const Json::exception&) {  // the worker died in the middle of a line
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
    bury(worker, *end, events);
    at = workers_.erase(at);
  }
  return events;
}

void Roster::hear(Worker& worker, const Json& event, std::vector<RosterEvent>& events) {
  const auto now = WorkClock::now();
  worker.heard_at = now;
  worker.heard = true;
  const std::string kind = event.at("event");
  if (kind == "fatal") return fail(event.at("exit"), event.at("line"));
  if (kind == "beat") return hear_beat(worker, event, events);
  OpenItem* item = worker.find(event.at("key"));
  if (item == nullptr) return;
  if (kind == "start") {
    item->started = true;
    item->started_at = item->moved_at = now;
    return;
  }
  ItemEnd end = end_of(*item, event);  // throws if the line is damaged; the worker keeps the item
  if (event.contains("note") && ++notes_ == 1)
    fmt::print(stderr, "saccade: {}: {}\n", item->item.key, event.at("note").get<std::string>());
  early_deaths_ = 0;
  if (end.signs.end == AttemptEnd::kDone && !item->is_probe()) {
    done_media_s_ += item->item.media_s;
    done_wall_s_ += seconds_since(item->started_at);
    ++done_items_;
  }
  std::erase(worker.items, item);
  events.push_back({RosterEvent::Kind::kEnd, item, worker.alone, std::move(end)});
  if (!worker.alone) renew(worker);
}

// Time in which an item waits for the disk that it writes to does not count as its own.
void Roster::hear_beat(Worker& worker, const Json& event, std::vector<RosterEvent>& events) {
  const auto now = WorkClock::now();
  const auto since = now - std::exchange(worker.beat_at, now);
  const Json writing = event.value("writing", Json::array());
  for (const auto& [key, frames] : event.at("frames").items()) {
    OpenItem* item = worker.find(key);
    if (item == nullptr) continue;
    const bool moved = frames != item->frames, writes = std::find(writing.begin(), writing.end(), key) != writing.end();
    if (writes && !moved) item->started_at = std::min(item->started_at + since, now);
    if (writes || moved) item->moved_at = now;
    if (!writes) item->writing_since.reset();
    if (writes && (moved || !item->writing_since)) item->writing_since = now;
    if (!moved) continue;
    item->frames = frames;
    if (item->frames > 0) events.push_back({RosterEvent::Kind::kFrames, item, worker.alone});
  }
}

// All that were in flight are suspects. Where the worker was stopped because some hung, only these are.
void Roster::bury(Worker& worker, const ProcessEnd& end, std::vector<RosterEvent>& events) {
  const bool well = end.exit == 0 && worker.items.empty();
  if (well || stop_) return;
  const bool stopped = !worker.hanging.empty();
  const bool begun =
      std::any_of(worker.items.begin(), worker.items.end(), [](const OpenItem* item) { return item->started; });
  if (!stopped && !begun && ++early_deaths_ >= kMostEarlyDeaths) {
    return fail(static_cast<int>(ExitCode::kUnexpected),
                fmt::format("the program crashed {} times in a row, before it began a video ({}): is the installation "
                            "broken?",
                            early_deaths_, death(end, 0)));
  }
  for (OpenItem* item : worker.items) {
    std::error_code ignored;
    std::filesystem::remove_all(item->result.directory, ignored);
    const bool hung = std::find(worker.hanging.begin(), worker.hanging.end(), item) != worker.hanging.end();
    if (stopped ? hung : item->started) {
      events.push_back({RosterEvent::Kind::kEnd, item, worker.alone, end_of(*item, end, hung)});
    } else {
      --item->attempts;
      events.push_back({RosterEvent::Kind::kUnbegun, item, worker.alone});
    }
  }
}

// Other videos may decode faster than real time. A larger one may not.
double Roster::timeout_s(const OpenItem& item) const {
  const double mean = done_items_ >= kLeastForSpeed && done_wall_s_ > 0 ? done_media_s_ / done_wall_s_ : 1;
  const double speed = std::min(mean, 1.0);
  // A file's length may be guessed from its bytes; that of what never ends isn't what it gave so far.
  const double given_s = regular_file(item.item.path()).empty() ? 0 : static_cast<double>(item.frames) / kFramesASecond;
  const double media_s = std::max(item.item.media_s, given_s);
  return std::max(options_.work.video_timeout_s, kTimesExpected * media_s / std::max(speed, 1e-6));
}

// This process was stopped, or its machine slept.
void Roster::forgive_pause() {
  const auto now = WorkClock::now();
  const auto pause = now - std::exchange(looped_at_, now);
  if (pause < kPause) return;
  for (auto& worker : workers_) {
    worker->heard_at += pause;
    worker->beat_at += pause;
    for (OpenItem* item : worker->items) {
      item->started_at += pause;
      item->moved_at += pause;
      if (item->writing_since) *item->writing_since += pause;
    }
  }
}

// False: it neither starts nor ends, and the work stops.
bool Roster::watch_process(Worker& worker) {
  worker.process->kill_if_due();
  const char* fault = nullptr;
  if (worker.process->survives_kill()) {
    fault = "a worker can't be ended: it waits for a disk or a device that doesn't answer";
  } else if (!worker.heard && WorkClock::now() - worker.heard_at > kLongestStart) {
    fault = "a worker said nothing for 120 s after its start: is the installation broken?";
  }
  if (fault != nullptr) fail(static_cast<int>(ExitCode::kUnexpected), fault);
  return fault == nullptr;
}

void Roster::warn_of_stall() {
  const bool stalled = std::any_of(workers_.begin(), workers_.end(), [this](const auto& worker) {
    return std::any_of(worker->items.begin(), worker->items.end(), [this](const OpenItem* item) {
      return item->writing_since && seconds_since(*item->writing_since) > options_.work.frame_timeout_s;
    });
  });
  if (stalled && !stall_warned_) {
    fmt::print(stderr, "saccade: {}: the output disk takes nothing: waiting for it, nothing is given up\n",
               plan_.store().place());
  }
  stall_warned_ = stalled;
}

void Roster::watch_times() {
  warn_of_stall();
  for (auto& worker : workers_) {
    if (!watch_process(*worker)) return;
    if (!worker->alone) renew(*worker);
    if (worker->process->terminating()) continue;
    const double limit_s = options_.work.frame_timeout_s;
    const bool silent = seconds_since(worker->heard_at) > limit_s;  // it can't even report how far it is
    for (OpenItem* item : worker->items) {
      if (!item->started) continue;
      const bool hangs =
          silent || seconds_since(item->moved_at) > limit_s || seconds_since(item->started_at) > timeout_s(*item);
      if (hangs) worker->hanging.push_back(item);
    }
    if (worker->hanging.empty()) continue;
    worker->retiring = true;
    worker->process->terminate();
  }
}

}  // namespace saccade
