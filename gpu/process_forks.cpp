#include "gpu/process_forks.h"

#include <pthread.h>

#include <atomic>

namespace saccade {
namespace {

std::atomic<std::uint32_t> forks{0};

}  // namespace

std::uint32_t process_forks() {
  static const int registered = pthread_atfork(nullptr, nullptr, [] { ++forks; });
  static_cast<void>(registered);
  return forks.load(std::memory_order_relaxed);
}

}  // namespace saccade
