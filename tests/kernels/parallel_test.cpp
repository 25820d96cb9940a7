// Parts of work on several threads: each is done once, and what fails in one of them is the caller's to know.
#include "kernels/tensor/cpu/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace saccade::tensor::cpu {
namespace {

TEST(ParallelFor, AnyCount_IsCoveredOnce) {
  for (const int threads : {-1, 0, 1, 2, 3, 7}) {
    for (const std::int64_t count : {0, 1, 2, 5, 64}) {
      std::vector<std::atomic<int>> done(static_cast<std::size_t>(count));
      parallel_for(count, 1, threads, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t k = first; k < last; ++k) ++done[static_cast<std::size_t>(k)];
      });
      for (const auto& times : done) EXPECT_EQ(times, 1) << count << " on " << threads;
    }
  }
}

TEST(ParallelFor, ExceptionOfAnotherThread_IsTheCallers) {
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<int> ended{0};
  const auto work = [&](std::int64_t first, std::int64_t) {
    ++ended;
    if (first == 2) {
      EXPECT_NE(std::this_thread::get_id(), caller);
      throw std::bad_alloc();
    }
  };
  EXPECT_THROW(parallel_for(4, 1, 4, work), std::bad_alloc);
  EXPECT_EQ(ended, 4) << "the other parts were done";
}

TEST(ParallelFor, SeveralExceptions_GiveTheFirstParts) {
  const auto work = [](std::int64_t first, std::int64_t) { throw std::runtime_error(std::to_string(first)); };
  for (const int threads : {1, 4}) {
    try {
      parallel_for(4, 1, threads, work);
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "0") << threads;
    }
  }
}

// Starts once; then there are no more threads.
struct ScarceThread {
  template <class Run>
  explicit ScarceThread(Run run) {
    if (++started > 1) throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
    thread = std::jthread(run);
  }
  std::jthread thread;
  static inline int started = 0;
};

TEST(ParallelFor, ThreadThatCantBeStarted_LeavesItsPartToTheCaller) {
  ScarceThread::started = 0;
  const std::thread::id caller = std::this_thread::get_id();
  std::vector<std::thread::id> by(5);
  parallel_for<ScarceThread>(5, 1, 5, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t k = first; k < last; ++k) by[static_cast<std::size_t>(k)] = std::this_thread::get_id();
  });
  EXPECT_NE(by[1], caller);
  for (const std::size_t part : {0U, 2U, 3U, 4U}) EXPECT_EQ(by[part], caller) << part;
}

}  // namespace
}  // namespace saccade::tensor::cpu
