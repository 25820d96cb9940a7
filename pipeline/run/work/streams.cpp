#include "pipeline/run/work/streams.h"

#include <algorithm>
#include <exception>
#include <system_error>
#include <thread>
#include <utility>

namespace saccade {
namespace {

bool open(StreamTask& task, Wakeup& wakeup) {
  try {
    task.open(wakeup);
    return true;
  } catch (...) {
    task.fail(std::current_exception());
    return false;
  }
}

StreamTask::Step step(StreamTask& task) {
  try {
    return task.step();
  } catch (...) {
    task.fail(std::current_exception());
    return StreamTask::Step::kEnded;
  }
}

// Up to `count` threads, of work(i); fewer where the system gives no more.
// Throws std::system_error where it gives none.
template <class Work>
void start_up_to(int count, std::vector<std::thread>& threads, const Work& work) {
  for (int i = 0; i < count; ++i) {
    try {
      threads.emplace_back([work, i] { work(i); });
    } catch (const std::system_error&) {
      if (i == 0) throw;
      return;
    }
  }
}

}  // namespace

struct Streams::Launcher {
  Wakeup wakeup;
  std::mutex mutex;
  std::vector<std::unique_ptr<StreamTask>> opened;  // not yet taken
  std::vector<std::unique_ptr<StreamTask>> failed;  // likewise: could not be opened again
  int away = 0;                                     // that are opened again
  bool no_more = false;
  int slots = 0;  // of its tasks; guarded by Streams::mutex_
};

Streams::Streams(const StreamsConfig& config) : config_(config), free_slots_(std::max(config.slots, 1)) {
  const int launchers = std::clamp(config.launchers, 1, free_slots_);
  for (int i = 0; i < launchers; ++i) launchers_.push_back(std::make_unique<Launcher>());
}

Streams::~Streams() = default;

// A launcher has its thread before an opener may give it tasks. Where the system gives no more threads fewer do, one of
// each kind at least.
void Streams::run(std::function<std::unique_ptr<StreamTask>()> next) {
  std::vector<std::thread> openers, launchers, others;
  std::exception_ptr no_threads;
  try {
    others.emplace_back([this] { open_again(); });
    start_up_to(config_.closers, others, [this](int) { close_all(); });
    const auto all = [this, first = launchers_.data()](int i) { launch(*first[i]); };
    start_up_to(static_cast<int>(launchers_.size()), launchers, all);
    launchers_.resize(launchers.size());
    start_up_to(std::clamp(config_.openers, 1, config_.slots), openers, [this, &next](int) { open_all(next); });
  } catch (const std::system_error&) {
    no_threads = std::current_exception();
  }
  for (std::thread& thread : openers) thread.join();
  for (auto& launcher : launchers_) {
    {
      const std::lock_guard lock(launcher->mutex);
      launcher->no_more = true;
    }
    launcher->wakeup.notify();
  }
  for (std::thread& thread : launchers) thread.join();
  {
    const std::lock_guard lock(mutex_);
    all_launched_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : others) thread.join();
  if (no_threads != nullptr) std::rethrow_exception(no_threads);
}

Streams::Launcher& Streams::claim_slot() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return free_slots_ > 0; });
  --free_slots_;
  Launcher& least = **std::min_element(launchers_.begin(), launchers_.end(),
                                       [](const auto& a, const auto& b) { return a->slots < b->slots; });
  ++least.slots;
  return least;
}

void Streams::free_slot(Launcher& launcher) {
  {
    const std::lock_guard lock(mutex_);
    ++free_slots_;
    --launcher.slots;
  }
  changed_.notify_all();
}

void Streams::open_all(const std::function<std::unique_ptr<StreamTask>()>& next) {
  for (;;) {
    Launcher& launcher = claim_slot();
    std::unique_ptr<StreamTask> task;
    {
      const std::lock_guard lock(next_mutex_);
      if (!no_more_) task = next();
      no_more_ = task == nullptr;
    }
    if (task == nullptr) return free_slot(launcher);
    if (!open(*task, launcher.wakeup)) {
      close(std::move(task), launcher);
      continue;
    }
    {
      const std::lock_guard lock(launcher.mutex);
      launcher.opened.push_back(std::move(task));
    }
    launcher.wakeup.notify();
  }
}

void Streams::launch(Launcher& launcher) {
  std::vector<std::unique_ptr<StreamTask>> running;
  for (;;) {
    const std::uint32_t seen = launcher.wakeup.count();
    bool over = false;
    std::vector<std::unique_ptr<StreamTask>> failed;
    {
      const std::lock_guard lock(launcher.mutex);
      for (auto& task : launcher.opened) running.push_back(std::move(task));
      launcher.opened.clear();
      failed.swap(launcher.failed);
      over = launcher.no_more && running.empty() && launcher.away == 0;
    }
    for (auto& task : failed) retire(std::move(task), launcher);
    if (over) return;
    bool worked = false;
    for (auto& task : running) {
      const StreamTask::Step done = step(*task);
      worked = worked || done != StreamTask::Step::kNothing;
      if (done == StreamTask::Step::kEnded) retire(std::move(task), launcher);
      if (done == StreamTask::Step::kAgain) {
        {
          const std::lock_guard lock(launcher.mutex);
          ++launcher.away;
        }
        hand_over(again_, std::move(task), launcher);
      }
    }
    std::erase(running, nullptr);
    if (!worked) launcher.wakeup.wait(seen);
  }
}

void Streams::hand_over(std::deque<Moving>& to, std::unique_ptr<StreamTask> task, Launcher& launcher) {
  {
    const std::lock_guard lock(mutex_);
    to.push_back({std::move(task), &launcher});
  }
  changed_.notify_all();
}

// Waits for one; none: no launcher runs any more.
std::optional<Streams::Moving> Streams::take(std::deque<Moving>& from) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return all_launched_ || !from.empty(); });
  if (from.empty()) return std::nullopt;
  Moving next = std::move(from.front());
  from.pop_front();
  return next;
}

// A thread of its own: openers may all be waiting for next(), and these have their slots already.
void Streams::open_again() {
  while (std::optional<Moving> next = take(again_)) {
    Launcher& launcher = *next->launcher;
    const bool opened = open(*next->task, launcher.wakeup);
    {
      const std::lock_guard lock(launcher.mutex);
      (opened ? launcher.opened : launcher.failed).push_back(std::move(next->task));
      --launcher.away;
    }
    launcher.wakeup.notify();
  }
}

void Streams::retire(std::unique_ptr<StreamTask> task, Launcher& launcher) {
  if (config_.closers <= 0) return close(std::move(task), launcher);
  hand_over(closing_, std::move(task), launcher);
}

void Streams::close(std::unique_ptr<StreamTask> task, Launcher& launcher) {
  task->close();
  task.reset();
  free_slot(launcher);
}

void Streams::close_all() {
  while (std::optional<Moving> next = take(closing_)) close(std::move(next->task), *next->launcher);
}

}  // namespace saccade
