#include "app/work/committer.h"

#include <exception>
#include <utility>

namespace saccade {

Committer::Committer(UnitTarget target, std::function<void()> on_done)
    : target_(std::move(target)), on_done_(std::move(on_done)), thread_([this](const std::stop_token& s) { run(s); }) {}

Committer::~Committer() = default;

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

void Committer::run(const std::stop_token& stop) {
  for (;;) {
    Committed unit;
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [this] { return !waiting_.empty(); }) || stop.stop_requested()) return;
      unit.result = std::move(waiting_.front());
      waiting_.pop_front();
    }
    try {
      unit.won = commit_unit(target_, unit.result);
    } catch (const Error& error) {
      unit.fault = error.fault();
    } catch (const std::exception& error) {
      unit.fault = Fault{ErrorKind::kOutput, error.what(), Hint::kNone};
    }
    {
      const std::lock_guard lock(mutex_);
      done_.push_back(std::move(unit));
    }
    on_done_();
  }
}

}  // namespace saccade
