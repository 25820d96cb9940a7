// What a page has been sent and has not drawn: two on their way, the newest wins.
#include "ui/web/wire/client_flow.h"

#include <gtest/gtest.h>

namespace saccade::ui {
namespace {

constexpr std::int64_t kSecond_ns = 1'000'000'000;

ServedPicturePtr picture(std::uint32_t seq) {
  return std::make_shared<const ServedPicture>(ServedPicture{seq, 0, std::vector<std::uint8_t>(100)});
}

TEST(ClientFlow, WithoutAcks_TwoAreSentAndTheNewestWaits) {
  ClientFlow flow;
  for (std::uint32_t seq = 1; seq <= 2; ++seq) {
    EXPECT_TRUE(flow.is_ready(0));
    flow.offer(picture(seq));
    EXPECT_EQ(flow.take(0)->seq, seq);
  }
  EXPECT_FALSE(flow.is_ready(0));
  for (std::uint32_t seq = 3; seq <= 9; ++seq) flow.offer(picture(seq));
  EXPECT_EQ(flow.take(0), nullptr);
  ASSERT_TRUE(flow.acknowledge(1, 30'000'000));
  EXPECT_EQ(flow.take(0)->seq, 9u);
  EXPECT_EQ(flow.take(0), nullptr);
}

TEST(ClientFlow, Ack_TellsHowLongItTook) {
  ClientFlow flow;
  flow.offer(picture(1));
  flow.take(0);
  flow.offer(picture(2));
  flow.take(10'000'000);
  const auto first = flow.acknowledge(1, 25'000'000);
  ASSERT_TRUE(first);
  EXPECT_DOUBLE_EQ(first->ms, 25);
  EXPECT_EQ(first->bytes, 100u);
  EXPECT_TRUE(first->alone);
  EXPECT_FALSE(flow.acknowledge(2, 30'000'000)->alone);
}

TEST(ClientFlow, AcksOfOtherPictures_AreNothing) {
  ClientFlow flow;
  EXPECT_FALSE(flow.acknowledge(0, 0));
  flow.offer(picture(5));
  EXPECT_FALSE(flow.acknowledge(5, 0));  // not sent yet
  flow.take(0);
  for (const std::uint32_t other : {0u, 4u, 6u, 0xffffffffu}) EXPECT_FALSE(flow.acknowledge(other, 0));
  EXPECT_TRUE(flow.acknowledge(5, 0));
  EXPECT_FALSE(flow.acknowledge(5, 0));  // once
}

TEST(ClientFlow, AckOfTheNewer_CountsForBoth) {
  ClientFlow flow;
  for (std::uint32_t seq = 1; seq <= 2; ++seq) {
    flow.offer(picture(seq));
    flow.take(0);
  }
  EXPECT_TRUE(flow.acknowledge(2, 0));
  EXPECT_TRUE(flow.is_ready(1));
}

TEST(ClientFlow, PicturesThatAreMade_CountAsOnTheirWay) {
  ClientFlow flow;
  EXPECT_TRUE(flow.is_ready(1));
  EXPECT_FALSE(flow.is_ready(2));
  flow.offer(picture(1));
  EXPECT_FALSE(flow.is_ready(0));
}

TEST(ClientFlow, Hidden_GetsNothingAndThenTheNewest) {
  ClientFlow flow;
  flow.hide(true);
  EXPECT_FALSE(flow.is_ready(0));
  EXPECT_FALSE(flow.watches(0));
  flow.offer(picture(1));
  flow.offer(picture(2));
  EXPECT_EQ(flow.take(0), nullptr);
  flow.hide(false);
  EXPECT_TRUE(flow.watches(0));
  EXPECT_EQ(flow.take(0)->seq, 2u);
}

TEST(ClientFlow, NoAckForLong_WatchesNoMoreUntilOneComes) {
  ClientFlow flow;
  EXPECT_TRUE(flow.watches(100 * kSecond_ns));
  flow.offer(picture(1));
  flow.take(kSecond_ns);
  EXPECT_TRUE(flow.watches(5 * kSecond_ns));
  EXPECT_FALSE(flow.watches(7 * kSecond_ns));
  flow.acknowledge(1, 7 * kSecond_ns);
  EXPECT_TRUE(flow.watches(7 * kSecond_ns));
}

}  // namespace
}  // namespace saccade::ui
