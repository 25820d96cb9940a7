// Work on a thread of its own, for what would hold up the viewer: a disk, a network, an encoder.
#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <future>
#include <thread>
#include <utility>

namespace saccade::ui {

// One thread's. Going, or replaced, it waits for its work.
template <typename Result>
class Job {
 public:
  Job() = default;
  // wake: called on the job's thread when the result, or what `work` threw, is there to take.
  template <typename Work>
  Job(Work work, std::function<void()> wake) {
    std::promise<Result> promise;
    result_ = promise.get_future();
    thread_ = std::jthread([promise = std::move(promise), work = std::move(work), wake = std::move(wake)]() mutable {
      try {
        promise.set_value(work());
      } catch (...) {
        promise.set_exception(std::current_exception());
      }
      wake();
    });
  }

  bool pending() const { return result_.valid(); }  // until take()
  bool ready() const { return pending() && result_.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }
  Result take() { return result_.get(); }  // once; throws what `work` threw

 private:
  std::future<Result> result_;
  std::jthread thread_;
};

}  // namespace saccade::ui
