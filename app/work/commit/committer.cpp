#include "app/work/commit/committer.h"

#include <exception>
#include <filesystem>
#include <iterator>
#include <utility>

namespace saccade {

Committer::Committer(UnitTarget target, int threads, std::function<void()> on_done)
    : target_(std::move(target)), on_done_(std::move(on_done)) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this](const std::stop_token& stop) { run(stop); });
}

Committer::~Committer() {
  for (std::jthread& thread : threads_) thread.request_stop();  // all at once; then each is waited for
}

void Committer::add(UnitResult result) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(result));
  }
  changed_.notify_one();
}

std::vector<Committed> Committer::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(done_, {});
}

std::vector<UnitResult> Committer::end() {
  for (std::jthread& thread : threads_) thread.request_stop();
  threads_.clear();
  const std::lock_guard lock(mutex_);
  std::deque<UnitResult> waiting = std::exchange(waiting_, {});
  return {std::make_move_iterator(waiting.begin()), std::make_move_iterator(waiting.end())};
}

Committed Committer::commit(UnitResult result) const {
  Committed unit{std::move(result), false, std::nullopt};
  try {
    unit.won = commit_unit(target_, unit.result);
  } catch (const std::exception&) {
    unit.fault = caught_fault(ErrorKind::kOutput);
  }
  for (const ItemResult& item : unit.result.items) {  // to give back large files takes long
    std::error_code ignored;
    if (!item.directory.empty()) std::filesystem::remove_all(item.directory, ignored);
  }
  return unit;
}

void Committer::run(const std::stop_token& stop) {
  for (;;) {
    UnitResult result;
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [this] { return !waiting_.empty(); }) || stop.stop_requested()) return;
      result = std::move(waiting_.front());
      waiting_.pop_front();
    }
    Committed unit = commit(std::move(result));
    {
      const std::lock_guard lock(mutex_);
      done_.push_back(std::move(unit));
    }
    on_done_();
  }
}

}  // namespace saccade
