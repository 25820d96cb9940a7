#include "app/dump/dump_queue.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

namespace saccade {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::hours;
using std::chrono::milliseconds;

TEST(EmissionQueue, FewSlots_KeepOrderAndAreReused) {
  EmissionQueue queue(std::vector<Emission>(3));
  std::vector<std::int64_t> seen;
  std::thread consumer([&] {
    while (!queue.ended()) {
      Emission* taken = queue.take(Clock::now() + hours(1));
      if (taken == nullptr) continue;
      seen.push_back(taken->frame);
      queue.release(taken);
    }
  });
  for (std::int64_t i = 0; i < 1000; ++i) {
    Emission* slot = queue.acquire();
    ASSERT_NE(slot, nullptr);
    slot->frame = i;
    queue.submit(slot);
  }
  queue.finish();
  consumer.join();
  ASSERT_EQ(seen.size(), 1000U);
  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], static_cast<std::int64_t>(i));
}

TEST(EmissionQueue, Empty_TakeReturnsAtItsDeadline) {
  EmissionQueue queue(std::vector<Emission>(1));
  EXPECT_EQ(queue.take(Clock::now() + milliseconds(5)), nullptr);
  EXPECT_FALSE(queue.ended());
}

TEST(EmissionQueue, FewOrMany_AreTakenAtTheDeadlineOrAtOnce) {
  EmissionQueue queue(std::vector<Emission>(4));
  queue.submit(queue.acquire());
  const auto deadline = Clock::now() + milliseconds(5);
  EXPECT_NE(queue.take(deadline), nullptr);
  EXPECT_GE(Clock::now(), deadline);
  queue.submit(queue.acquire());
  queue.submit(queue.acquire());
  EXPECT_NE(queue.take(Clock::now() + hours(1)), nullptr);
  EXPECT_NE(queue.take(Clock::now() + hours(1)), nullptr);
}

TEST(EmissionQueue, Finished_StillGivesWhatWaits) {
  EmissionQueue queue(std::vector<Emission>(2));
  queue.submit(queue.acquire());
  queue.finish();
  EXPECT_FALSE(queue.ended());
  EXPECT_NE(queue.take(Clock::now() + hours(1)), nullptr);
  EXPECT_TRUE(queue.ended());
  EXPECT_EQ(queue.take(Clock::now() + hours(1)), nullptr);
}

TEST(EmissionQueue, Abort_FreesBothSides) {
  EmissionQueue queue(std::vector<Emission>(1));
  Emission* only = queue.acquire();
  std::thread producer([&] { EXPECT_EQ(queue.acquire(), nullptr); });
  std::thread consumer([&] { EXPECT_EQ(queue.take(Clock::now() + hours(1)), nullptr); });
  queue.abort();
  producer.join();
  consumer.join();
  EXPECT_TRUE(queue.ended());
  queue.release(only);
  EXPECT_EQ(queue.acquire(), nullptr);
}

}  // namespace
}  // namespace saccade
