// One thread waits for any of many things; each of them says when it has something.
#pragma once

#include <atomic>
#include <cstdint>

namespace saccade {

// Any thread notifies, one waits. The waiter reads count() before it looks at the things, and waits for another count:
// so what comes while it looks is not missed.
class Wakeup {
 public:
  void notify() {
    count_.fetch_add(1);
    count_.notify_one();
  }
  std::uint32_t count() const { return count_.load(); }
  void wait(std::uint32_t seen) const { count_.wait(seen); }

 private:
  std::atomic<std::uint32_t> count_{0};
};

}  // namespace saccade
