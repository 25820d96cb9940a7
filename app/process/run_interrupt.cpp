#include "app/process/run_interrupt.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "app/process/exit_code.h"
#include "pipeline/error.h"
#include "pipeline/secrets.h"

namespace saccade {

RunInterrupt::Scope::Scope(RunInterrupt& owner, Session& session) : owner_(owner), session_(session) {
  const std::lock_guard lock(owner_.mutex_);
  owner_.sessions_.push_back(&session);
  owner_.opening_.clear();
  if (owner_.requested_) session.interrupt();
}

RunInterrupt::Scope::~Scope() {
  const std::lock_guard lock(owner_.mutex_);
  std::erase(owner_.sessions_, &session_);
}

void RunInterrupt::set_opening(const std::string& input, const std::string& written) {
  const std::lock_guard lock(mutex_);
  opening_ = written;
  if (!input.empty() && written.empty()) {
    opening_ = fmt::format("{}: interrupted while it was being opened; nothing was written", masked_uri(input));
  }
}

std::shared_ptr<std::atomic<bool>> RunInterrupt::make_stop() {
  const std::lock_guard lock(mutex_);
  std::erase_if(stops_, [](const auto& weak) { return weak.expired(); });
  auto stop = std::make_shared<std::atomic<bool>>(requested_);
  stops_.push_back(stop);
  return stop;
}

void RunInterrupt::interrupt() {
  const std::lock_guard lock(mutex_);
  requested_ = true;
  for (const auto& weak : stops_) {
    if (const auto stop = weak.lock()) stop->store(true);
  }
  for (Session* session : sessions_) session->interrupt();
  if (sessions_.empty() && !opening_.empty()) {
    // Opening may wait for a network that never answers, and nothing is being written.
    fmt::print(stderr, "saccade: {}\n", opening_);
    std::fflush(stdout);
    std::_Exit(static_cast<int>(ExitCode::kInterrupted));
  }
}

bool RunInterrupt::requested() const {
  const std::lock_guard lock(mutex_);
  return requested_;
}

}  // namespace saccade
