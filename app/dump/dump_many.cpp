#include "app/dump/dump_many.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <stop_token>
#include <thread>

#include "app/dump/kept.h"
#include "app/process/cores.h"

namespace saccade {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kLinePeriod = std::chrono::milliseconds(200);

// One line for all inputs, redrawn on a terminal.
class ManyLine {
 public:
  ManyLine(bool wanted, std::size_t total) : total_(total) {
    if (wanted) thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }
  void count(std::int64_t frames) { frames_ += frames; }
  // Takes the line off the terminal while `print` prints.
  template <typename Print>
  void beside(Print&& print) {
    const std::lock_guard lock(mutex_);
    erase();
    ++ended_;
    print();
  }
  ~ManyLine() {
    thread_ = {};
    erase();
  }

 private:
  void erase() {
    if (!drawn_) return;
    std::fputs("\r\033[K", stderr);
    std::fflush(stderr);
    drawn_ = false;
  }
  void run(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!tick_.wait_for(lock, stop, kLinePeriod, [&stop] { return stop.stop_requested(); })) {
      const double elapsed_s = std::chrono::duration<double>(Clock::now() - begin_).count();
      const auto frames = frames_.load();
      fmt::print(stderr, "\r\033[K{} of {} inputs  {} frames  {:.0f}/s", ended_, total_, frames,
                 static_cast<double>(frames) / elapsed_s);
      std::fflush(stderr);
      drawn_ = true;
    }
  }

  const std::size_t total_;
  const Clock::time_point begin_ = Clock::now();
  std::atomic<std::int64_t> frames_{0};
  std::mutex mutex_;
  std::condition_variable_any tick_;
  std::size_t ended_ = 0;
  bool drawn_ = false;
  std::jthread thread_;
};

}  // namespace

void dump_many(const Options& options, const std::vector<DumpTarget>& targets, int jobs, RunInterrupt& interrupt,
               const std::function<bool(const DumpTarget&, const DumpEnd&)>& on_end) {
  Options shared = options;
  share_machine(shared, jobs, usable_cores());
  keep_between_inputs(shared, jobs);
  ManyLine line(options.progress == ProgressMode::kAuto && isatty(STDERR_FILENO) != 0, targets.size());
  std::size_t at = 0;
  std::atomic<bool> stopped{false};
  KeptTextures kept(static_cast<std::size_t>(jobs));
  Streams streams(streams_config(options.pipeline.backend, jobs));
  streams.run([&]() -> std::unique_ptr<StreamTask> {
    if (at == targets.size() || stopped || interrupt.requested()) return nullptr;
    const DumpTarget& target = targets[at++];
    DumpJob job{shared, target.uri, target.directory, {}, {}, &kept};
    job.on_frames = [&line, before = std::int64_t{0}](std::int64_t frames) mutable {
      line.count(frames - before);
      before = frames;
    };
    job.on_end = [&](const DumpEnd& end) {
      line.beside([&] {
        if (!on_end(target, end)) stopped = true;
      });
    };
    return std::make_unique<DumpTask>(std::move(job), interrupt);
  });
}

}  // namespace saccade
