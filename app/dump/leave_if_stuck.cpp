#include "app/dump/leave_if_stuck.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace saccade {
namespace {

constexpr auto kPatience = std::chrono::seconds(2);

}  // namespace

LeaveIfStuck::LeaveIfStuck(std::string line, ExitCode code)
    : line_(std::move(line)), code_(code), thread_([this] { run(); }) {}

LeaveIfStuck::~LeaveIfStuck() {
  {
    const std::lock_guard lock(mutex_);
    is_done_ = true;
  }
  done_.notify_one();
  thread_.join();
}

void LeaveIfStuck::run() {
  std::unique_lock lock(mutex_);
  if (done_.wait_for(lock, kPatience, [this] { return is_done_; })) return;
  std::fprintf(stderr, "saccade: %s\n", line_.c_str());
  std::fflush(stdout);
  std::_Exit(static_cast<int>(code_));
}

}  // namespace saccade
