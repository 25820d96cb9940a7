// What is left out of a live stream, and when: in cases made by hand. lag_simulation_test.cpp has those made by chance.
#include <gtest/gtest.h>

#include <vector>

#include "pipeline/source/live/lag.h"

namespace saccade {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kFrame = kSecond / 25;
constexpr std::int64_t kRead = kSecond / 10000;

// A stream of 25 packets/s, a key frame each second, and who reads it.
struct Reader {
  LagGate gate;
  std::int64_t now_ns = 0;
  std::int64_t read = 0;           // packets
  std::vector<std::int64_t> held;  // their numbers
  std::vector<std::int64_t> given;
  std::int64_t left_out = 0;
  std::int64_t key_every = 25;
  bool has_times = true;

  // Up to the next packet that is given out. arrival(n): when packet n is there.
  template <typename Arrival>
  void next(Arrival&& arrival) {
    while (gate.wants_packet(now_ns)) {
      const std::int64_t there_ns = arrival(read);
      const std::int64_t waited_ns = std::max<std::int64_t>(there_ns - now_ns, 0);
      now_ns += waited_ns + kRead;
      LivePacket packet{std::nullopt, now_ns, waited_ns, read % key_every == 0, 1000};
      if (has_times) packet.ts_ns = 1000 * kSecond + kFrame * read;
      held.push_back(read++);
      const std::size_t out = gate.add(packet);
      left_out += static_cast<std::int64_t>(out);
      held.erase(held.begin(), held.begin() + static_cast<std::ptrdiff_t>(out));
    }
    given.push_back(held.front());
    held.erase(held.begin());
    gate.gave();
  }
};

std::int64_t in_time(std::int64_t packet) { return kFrame * packet; }

TEST(LagGate, BurstAtTheBeginning_IsAdmitted) {  // what waited while the stream was looked at
  Reader reader;
  reader.now_ns = 2 * kSecond;
  for (int i = 0; i < 200; ++i) reader.next(in_time);
  EXPECT_EQ(reader.left_out, 0);
}

TEST(LagGate, Behind_LeavesOutUpToTheNewestKeyFrame) {
  for (const bool has_times : {true, false}) {
    Reader reader;
    reader.has_times = has_times;
    for (int i = 0; i < 50; ++i) reader.next(in_time);
    reader.now_ns += 3 * kSecond;  // 75 packets wait, 100 and 124 are the first key frame's and the last's
    reader.next(in_time);
    EXPECT_EQ(reader.given.back() % 25, 0);
    EXPECT_GE(reader.given.back(), 100);
    EXPECT_GE(reader.left_out, 25);
    EXPECT_NEAR(static_cast<double>(reader.gate.left_out_ns()), static_cast<double>(reader.left_out * kFrame),
                2.0 * kFrame);
    for (int i = 0; i < 100; ++i) reader.next(in_time);
    EXPECT_EQ(reader.read - reader.left_out, static_cast<std::int64_t>(reader.given.size() + reader.held.size()));
    EXPECT_LT(reader.now_ns - in_time(reader.given.back()), kFrame);  // it has caught up
  }
}

TEST(LagGate, BehindWithoutAKeyFrame_LeavesNothingOut) {
  Reader reader;
  reader.key_every = 1'000'000;
  for (int i = 0; i < 50; ++i) reader.next(in_time);
  reader.now_ns += 3 * kSecond;
  for (int i = 0; i < 200; ++i) reader.next(in_time);
  EXPECT_EQ(reader.left_out, 0);
  EXPECT_EQ(reader.given.back(), 249);
}

TEST(LagGate, SenderThatShipsFewerThanItStamps_LosesNothing) {
  Reader reader;
  for (int i = 0; i < 25'000; ++i) reader.next([](std::int64_t n) { return n * kSecond / 21; });
  EXPECT_EQ(reader.left_out, 0);
  EXPECT_EQ(reader.given.back(), 24'999);
}

TEST(LagGate, SenderThatDoesNotPaceItself_LosesNothing) {  // a file through a socket, decoded at twice its rate
  for (const bool has_times : {true, false}) {
    Reader reader;
    reader.has_times = has_times;
    for (int i = 0; i < 10'000; ++i) {
      reader.next([](std::int64_t) { return 0; });
      reader.now_ns += kFrame / 2;
    }
    EXPECT_EQ(reader.left_out, 0);
  }
}

TEST(LagGate, TimesThatJump_AreNoLag) {
  Reader reader;
  for (const std::int64_t jump : {-1000, -2, 2, 1000}) {
    for (int i = 0; i < 100; ++i) reader.next(in_time);
    LivePacket packet{1000 * kSecond + kFrame * reader.read + jump * kSecond, reader.now_ns, 0, false, 1000};
    EXPECT_EQ(reader.gate.add(packet), 0U);
    reader.gate.gave();
  }
  EXPECT_EQ(reader.left_out, 0);
}

TEST(LagGate, DeviceThatHasNothing_IsNoLag) {
  LagGate gate;
  std::int64_t now_ns = 0;
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(gate.wants_packet(now_ns));
    EXPECT_EQ(gate.add({now_ns, now_ns, 0, true, 1000}), 0U);
    now_ns += 2 * kSecond;  // decoding takes long; yet nothing came meanwhile
    if (gate.wants_packet(now_ns)) gate.nothing_behind(now_ns);
    ASSERT_FALSE(gate.wants_packet(now_ns));
    gate.gave();
  }
}

}  // namespace
}  // namespace saccade
