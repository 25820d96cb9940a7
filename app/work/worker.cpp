// saccade worker: what `work` runs, and feeds. Items come as JSON lines on stdin, what becomes of them goes to stdout.
//
//   in:  {"options": {...}, "origins": {option: as its giver knows it}, "jobs": 2, "share": 2, "cores": 2, "device": 0,
//         "beat_s": 0.5}                                                first
//        {"item": {a line of items.jsonl}, "path": "...", "dir": "...", "first_frame": false}  each
//        first_frame: it is only to be seen whether it has one; then it ends
//   out: {"event": "start", "key"}  {"event": "beat", "frames": {key: n}, "writing": [key]}
//        writing: these wait for the disk, not for their source.
//
//        {"event": "done", "key", "frames", "media_s", "damage"}     "note" in this and the next: a line for people
//        {"event": "failed", "key", "class", "line", "exit", "again", "read"}
//        again: another try may go well. read: was_read() of fault_class.h, null: not known. Class "options": the video
//        doesn't take the plan's options. "hwdec_unsupported": the device works, and does not decode it.
//
//        {"event": "fatal", "exit", "line"}
//        This process can do nothing more.
//
// Where the first line is {"probe": {...}} it only opens videos, to say how long they are: app/work/plan/probe.cpp.
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <iostream>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <thread>

#include "app/commands.h"
#include "app/dump/dump_task.h"
#include "app/dump/kept.h"
#include "app/files/whole_file.h"
#include "app/json/facts_json.h"
#include "app/log.h"
#include "app/options/hint_flags.h"
#include "app/options/options.h"
#include "app/options/origins.h"
#include "app/process/exit_code.h"
#include "app/work/judge/fault_class.h"
#include "app/work/plan/input_facts.h"
#include "app/work/plan/plan.h"
#include "app/work/plan/probe.h"
#include "gpu/device_error.h"
#include "pipeline/backend/backend.h"
#include "pipeline/error.h"
#include "pipeline/options/resolve.h"

namespace saccade {
namespace {

constexpr const char* kFed = "worker: is run by `saccade work`, which feeds it";

// Lines to the parent, from any thread; and how far each item is, now and then.
class Events {
 public:
  explicit Events(double beat_s) : period_(beat_s), thread_([this](const std::stop_token& stop) { beat(stop); }) {}

  void send(const Json& event) {
    const std::lock_guard lock(mutex_);
    write(event);
  }
  // Returns how many of its threads wait for the disk: to be counted there, and read with each beat.
  std::shared_ptr<std::atomic<int>> begin(const std::string& key) {
    const std::lock_guard lock(mutex_);
    frames_[key] = 0;
    auto writing = writing_[key] = std::make_shared<std::atomic<int>>(0);
    write({{"event", "start"}, {"key", key}});
    return writing;
  }
  void frames(const std::string& key, std::int64_t count) {
    const std::lock_guard lock(mutex_);
    frames_[key] = count;
  }
  void end(const std::string& key, const Json& event) {
    const std::lock_guard lock(mutex_);
    frames_.erase(key);
    writing_.erase(key);
    write(event);
  }

 private:
  static void write(const Json& event) {
    const std::string line = line_of(event);
    if (write_all(STDOUT_FILENO, line.data(), line.size()) != 0)
      std::_Exit(static_cast<int>(ExitCode::kUnexpected));  // the parent is gone
  }
  void beat(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!tick_.wait_for(lock, stop, period_, [&stop] { return stop.stop_requested(); })) {
      Json frames = Json::object(), writing = Json::array();
      for (const auto& [key, count] : frames_) frames[key] = count;
      for (const auto& [key, threads] : writing_) {
        if (*threads > 0) writing.push_back(key);
      }
      write({{"event", "beat"}, {"frames", frames}, {"writing", writing}});
    }
  }

  const std::chrono::duration<double> period_;
  std::mutex mutex_;
  std::condition_variable_any tick_;
  std::map<std::string, std::int64_t> frames_;
  std::map<std::string, std::shared_ptr<std::atomic<int>>> writing_;
  std::jthread thread_;
};

// What is run: an item, what is opened for it, and how.
struct Running {
  WorkItem item;
  std::string path;
  const Options* options;
  const std::string& key() const { return item.key; }
};

// How an item failed.
struct Failure {
  const char* kind;
  std::string line;
  ExitCode code;
  int error = 0;  // its errno
  bool again = false;
  std::int64_t frames = 0;
};

Json event_of(const Running& running, const Failure& failure) {
  const auto read = was_read(failure.kind, failure.frames, failure.error, running.path);
  return {{"event", "failed"},    {"key", running.key()},   {"class", failure.kind},
          {"line", failure.line}, {"again", failure.again}, {"exit", static_cast<int>(failure.code)},
          {"read", or_null(read)}};
}

// key: of the item that met it first; empty: none did.
Json fatal(const Fault& fault, const std::string& key = {}) {
  const bool of_device = fault.kind == ErrorKind::kUnavailable && !key.empty();
  const std::string met = of_device ? fmt::format(" (the first to meet it: {})", key) : "";
  return {{"event", "fatal"}, {"exit", static_cast<int>(exit_code(fault.kind))}, {"line", error_text(fault) + met}};
}

// A device that is lost, and a disk that is full, are of all items; a picture too large for the device is one
// item's own fault.
bool concerns_all(const Fault& fault, Backend backend) {
  if (fault.kind == ErrorKind::kOutput) return true;
  const bool too_large =
      fault.hint == Hint::kSmallerFrame || fault.hint == Hint::kSmallerFrameOrCpu || fault.hint == Hint::kLessMemory;
  return fault.kind == ErrorKind::kUnavailable && traits(backend).may_be_lost && !too_large;
}

Json event_of(const Running& running, const Fault& fault, std::int64_t frames = 0) {
  if (lacks_hwdec(fault) && why_no_decoder(*running.options).empty())
    return event_of(running, Failure{kHwdecUnsupported, error_text(fault), exit_code(fault.kind)});
  if (concerns_all(fault, running.options->pipeline.backend)) return fatal(fault, running.key());
  const char* kind = class_of(fault);
  const bool again = wants_memory(fault) || std::string_view(kind) == "io";
  return event_of(running, Failure{kind, error_text(fault), exit_code(fault.kind), fault.error, again, frames});
}

Json event_of(const Running& running, const DumpEnd& end) {
  if (end.error != nullptr) {
    try {
      std::rethrow_exception(end.error);
    } catch (const Error& error) {
      return event_of(running, error.fault());
    } catch (const DeviceError& error) {
      return event_of(running, fault_of(error));
    } catch (const std::bad_alloc&) {
      return event_of(running, caught_fault(ErrorKind::kInput));
    } catch (const std::exception& error) {
      const Fault fault = caught_fault(ErrorKind::kInput);
      const bool again = is_io(fault);  // there was no thread for it
      return event_of(running,
                      Failure{again ? "io" : "unexpected", error.what(), ExitCode::kUnexpected, fault.error, again});
    }
  }
  const DumpOutcome& outcome = *end.outcome;
  const bool damaged = outcome.kind == DumpOutcome::Kind::kDamaged;
  if (damaged && !outcome.fault.what.empty() && is_io(outcome.fault))
    return event_of(running, outcome.fault, outcome.result.at("frames"));
  return {{"event", "done"},
          {"key", running.key()},
          {"frames", outcome.result.at("frames")},
          {"media_s", outcome.result.at("media_s")},
          {"damage", damaged ? outcome.damage : ""}};
}

// An input that is another one than was planned is not a fault of its own, whatever became of it.
Json event_of_planned(const Running& running, const DumpEnd& end) {
  Json event = event_of(running, end);
  const auto change = event.at("event") == "fatal" ? std::nullopt : input_change(running.item);
  if (change && change->of_size) return event_of(running, Failure{kChanged, change->line, ExitCode::kBadInput});
  if (change) event["note"] = change->line;
  return event;
}

class Worker {
 public:
  explicit Worker(const Json& first, Options options)
      : options_(std::move(options)),
        jobs_(first.at("jobs")),
        kept_(static_cast<std::size_t>(jobs_)),
        events_(first.at("beat_s").get<double>()) {
    options_.dump.hash_input = false;
    options_.progress = ProgressMode::kNone;
    share_machine(options_, first.at("share"), first.at("cores"));
    keep_between_inputs(options_, jobs_);
  }

  void run() {
    Streams streams(streams_config(options_.pipeline.backend, jobs_));
    std::atomic<bool> nonsense{false};
    streams.run([&]() -> std::unique_ptr<StreamTask> {
      try {
        return nonsense ? nullptr : next();
      } catch (const Json::exception&) {
        nonsense = true;
        return nullptr;
      }
    });
    if (nonsense) throw UsageError(kFed);
  }

 private:
  std::unique_ptr<StreamTask> next() {
    std::string line;
    if (!std::getline(std::cin, line) || line.empty()) return nullptr;
    const Json json = Json::parse(line);
    const WorkItem item = item_of(json.at("item"));
    DumpJob job{options_, json.at("path"), json.at("dir"), {}, {}, &kept_};
    SourceConfig& source = job.options.source;
    source.start_s = static_cast<double>(item.start_ns) / 1e9;
    if (item.end_ns) source.duration_s = static_cast<double>(*item.end_ns - item.start_ns) / 1e9;
    if (item.stream) source.stream_index = item.stream;
    const std::string key = item.key;
    const bool first_frame = json.value("first_frame", false);
    RunInterrupt& interrupt = first_frame ? tried_.emplace_back() : interrupt_;
    job.on_frames = [this, key, first_frame, &interrupt](std::int64_t frames) {
      events_.frames(key, frames);
      if (first_frame && frames > 0) interrupt.interrupt();
    };
    job.on_end = [this, first_frame, running = Running{item, job.uri, &options_}](const DumpEnd& end) {
      events_.end(running.key(), first_frame ? event_of(running, end) : event_of_planned(running, end));
    };
    job.on_writing = [writing = events_.begin(key)](bool waits) { *writing += waits ? 1 : -1; };
    return std::make_unique<DumpTask>(std::move(job), interrupt);
  }

  Options options_;
  const int jobs_;
  KeptTextures kept_;
  RunInterrupt interrupt_;
  std::list<RunInterrupt> tried_;
  Events events_;
};

int serve(const Options& options) {
  std::string line;
  if (isatty(STDIN_FILENO) != 0 || !std::getline(std::cin, line)) throw UsageError(kFed);
  const Json first = Json::parse(line);
  if (first.contains("probe")) return serve_probe(first.at("probe")), static_cast<int>(ExitCode::kOk);
  Options run;
  try {
    remember_places(first.at("origins").get<std::map<std::string, std::string>>());
    OptionTexts texts = texts_of(first.at("options"));
    if (const int device = first.at("device"); device >= 0) {
      std::erase_if(texts, [](const auto& option) { return option.first == "device"; });
      texts.emplace_back("device", std::to_string(device));
    }
    run = recorded_options(texts);
  } catch (const Error& error) {
    Fault fault = error.fault();
    if (fault.kind == ErrorKind::kInput) fault.kind = ErrorKind::kUsage;  // a file that an option names: no video's
    fmt::print("{}", line_of(fatal(fault)));
    return static_cast<int>(exit_code(fault.kind));
  }
  run.log_level = options.log_level;
  run.source.log = app_log();
  Worker(first, std::move(run)).run();
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace

int run_worker(const Options& options) {
  for (const int number : {SIGINT, SIGHUP}) std::signal(number, SIG_IGN);  // the parent gets them, too, and decides
  try {
    return serve(options);
  } catch (const Json::exception&) {  // not what `work` writes
    throw UsageError(kFed);
  }
}

}  // namespace saccade
