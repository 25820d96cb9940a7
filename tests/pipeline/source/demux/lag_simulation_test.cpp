// Live streams by chance: senders whose clocks drift, step, pause and jitter, networks that hold packets back, a reader
// that is too slow or stands still. Time is simulated. SACCADE_SIMULATIONS=N runs N streams of up to three hours, and
// prints what was seen; by default a thousand of up to ten minutes.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <iostream>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "pipeline/source/frame/arrival_clock.h"
#include "pipeline/source/live/lag.h"

namespace saccade {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kRead_ns = 50'000;  // a read that finds something

struct Scenario {
  int rate = 25;           // packets a second, in truth
  int drift_permille = 0;  // of the stamps
  bool has_stamps = true;
  int key_every = 25;
  int jitter_ms = 0;      // on the way
  int load_percent = 30;  // of the time between two packets, to decode one
  int steps = 0;          // of the stamps, each of seconds, an hour
  int pauses = 0;         // of the sender, an hour; its stamps don't know
  int outages = 0;        // an hour: the network holds packets back and gives them at once
  int halts = 0;          // of the reader, an hour
  int length_s = 60;
  unsigned seed = 1;
};

std::ostream& operator<<(std::ostream& out, const Scenario& s) {
  return out << s.rate << "/s, drift " << s.drift_permille << "/1000, " << (s.has_stamps ? "stamps" : "no stamps")
             << ", key every " << s.key_every << ", jitter " << s.jitter_ms << " ms, load " << s.load_percent
             << " %, steps " << s.steps << ", pauses " << s.pauses << ", outages " << s.outages << ", halts " << s.halts
             << " an hour, " << s.length_s << " s, seed " << s.seed;
}

struct Sent {
  std::int64_t sent_ns = 0;
  std::int64_t arrived_ns = 0;
  std::int64_t stamp_ns = 0;
  bool is_key = false;
};

// A sender and the network after it, packet by packet.
class Sender {
 public:
  explicit Sender(const Scenario& s) : s_(s), random_(s.seed) {}

  std::optional<Sent> next() {
    const std::int64_t interval_ns = kSecond / s_.rate;
    if (happens(s_.pauses)) sent_ns_ += between(kSecond / 10, 5 * kSecond);
    sent_ns_ += interval_ns;
    stamp_ns_ += interval_ns + interval_ns * s_.drift_permille / 1000;
    if (happens(s_.steps)) stamp_ns_ += between(-20 * kSecond, 20 * kSecond);
    if (happens(s_.outages)) held_until_ns_ = sent_ns_ + between(kSecond / 10, 5 * kSecond);
    if (sent_ns_ > s_.length_s * kSecond) return std::nullopt;
    const std::int64_t on_its_way_ns = sent_ns_ + between(0, s_.jitter_ms * 1'000'000LL);
    arrived_ns_ = std::max({arrived_ns_, on_its_way_ns, held_until_ns_});
    return Sent{sent_ns_, arrived_ns_, stamp_ns_, number_++ % s_.key_every == 0};
  }

 private:
  bool happens(int an_hour) { return an_hour > 0 && between(0, 3600LL * s_.rate) < an_hour; }
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
  }

  const Scenario& s_;
  std::mt19937_64 random_;
  std::int64_t sent_ns_ = 0, stamp_ns_ = 1000 * kSecond, arrived_ns_ = 0, held_until_ns_ = 0;
  std::int64_t number_ = 0;
};

struct Seen {
  std::int64_t packets = 0, given = 0, left_out = 0, held = 0, looks = 0;
  std::int64_t oldest_ns = 0;        // of what was given, since its arrival
  std::int64_t silence_ns = 0;       // longest between two that were given, in which more than one arrived
  std::int64_t freshest_out_ns = 0;  // the least age, since it was sent, of an oldest packet that was left out
  std::int64_t key_gap_ns = 0;       // longest between arrivals of key frames
  std::int64_t busy_ns = 0;          // longest decoding or standing still
  std::int64_t longest_gap_ns = 0;   // between arrivals
  std::int64_t backlog = 0;          // most packets read at one time
  bool rises = true;
  std::int64_t off_ns = 0;  // furthest from its arrival that ArrivalClock put a packet
};

// One thread that reads and decodes, as Demuxer and PacketDecoder do.
class Reader {
 public:
  explicit Reader(const Scenario& s) : s_(s), sender_(s), random_(s.seed + 1), coming_(sender_.next()) {}

  Seen run() {
    seen_.freshest_out_ns = 1'000'000 * kSecond;
    std::int64_t done_ns = 0;
    while (fetch()) {
      const Sent sent = held_.front();
      held_.pop_front();
      gate_.gave();
      ++seen_.given;
      seen_.oldest_ns = std::max(seen_.oldest_ns, now_ns_ - sent.arrived_ns);
      if (arrived_since_give_ > 1) seen_.silence_ns = std::max(seen_.silence_ns, now_ns_ - done_ns);
      decode();
      done_ns = now_ns_;
      arrived_since_give_ = 0;
    }
    seen_.held = static_cast<std::int64_t>(held_.size());
    return seen_;
  }

 private:
  // False: the stream is over.
  bool fetch() {
    std::int64_t reads = 0;
    while (gate_.wants_packet(now_ns_)) {
      if (!coming_) return false;
      const Sent sent = *coming_;
      coming_ = sender_.next();
      note_gaps(sent);
      const std::int64_t waited_ns = std::max<std::int64_t>(sent.arrived_ns - now_ns_, 0);
      arrived_since_give_ += waited_ns > 0 ? 1 : 0;
      now_ns_ += waited_ns + kRead_ns;
      seen_.backlog = std::max(seen_.backlog, ++reads);
      add(sent, waited_ns);
    }
    seen_.looks += reads > 1 ? 1 : 0;
    return true;
  }

  void add(const Sent& sent, std::int64_t waited_ns) {
    LivePacket packet{std::nullopt, now_ns_, waited_ns, sent.is_key, 20'000};
    if (s_.has_stamps) packet.ts_ns = sent.stamp_ns;
    held_.push_back(sent);
    ++seen_.packets;
    const std::size_t out = gate_.add(packet);
    if (out > 0) seen_.freshest_out_ns = std::min(seen_.freshest_out_ns, now_ns_ - held_.front().sent_ns);
    seen_.left_out += static_cast<std::int64_t>(out);
    held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(out));
    const std::int64_t time_ns = clock_.next(now_ns_);
    seen_.rises = seen_.rises && time_ns > last_time_ns_;
    last_time_ns_ = time_ns;
    seen_.off_ns = std::max(seen_.off_ns, std::abs(time_ns - now_ns_));
  }

  void note_gaps(const Sent& sent) {
    seen_.longest_gap_ns = std::max(seen_.longest_gap_ns, sent.arrived_ns - last_arrived_ns_);
    last_arrived_ns_ = sent.arrived_ns;
    if (!sent.is_key) return;
    seen_.key_gap_ns = std::max(seen_.key_gap_ns, sent.arrived_ns - last_key_ns_);
    last_key_ns_ = sent.arrived_ns;
  }

  void decode() {
    const std::int64_t mean_ns = kSecond / s_.rate * s_.load_percent / 100;
    std::int64_t busy_ns = std::uniform_int_distribution<std::int64_t>(mean_ns / 2, mean_ns * 3 / 2)(random_);
    if (std::uniform_int_distribution<std::int64_t>(0, 3600LL * s_.rate)(random_) < s_.halts) {
      busy_ns += std::uniform_int_distribution<std::int64_t>(kSecond / 10, 10 * kSecond)(random_);
    }
    seen_.busy_ns = std::max(seen_.busy_ns, busy_ns);
    now_ns_ += busy_ns;
  }

  const Scenario& s_;
  Sender sender_;
  std::mt19937_64 random_;
  std::optional<Sent> coming_;
  LagGate gate_;
  ArrivalClock clock_;
  std::deque<Sent> held_;
  Seen seen_;
  std::int64_t now_ns_ = 0, last_time_ns_ = -1, last_arrived_ns_ = 0, last_key_ns_ = 0, arrived_since_give_ = 0;
};

// What Note [Late packets] and Note [Times by arrival] promise.
void expect_promises(const Scenario& s, const Seen& seen) {
  const std::int64_t reading_ns = seen.backlog * kRead_ns;
  RC_ASSERT(seen.packets == seen.given + seen.left_out + seen.held);
  // Read ahead at most for a second, or until the next packet.
  RC_ASSERT(seen.silence_ns <=
            std::min(LagGate::kPatience_ns, reading_ns) + seen.longest_gap_ns + LagGate::kWait_ns + kRead_ns);
  const std::int64_t unsure_ns = s.has_stamps ? LagGate::kPatience_ns : LagGate::kUnsure_ns;
  RC_ASSERT(seen.oldest_ns <=
            LagGate::kPatience_ns + unsure_ns + seen.key_gap_ns + seen.longest_gap_ns + seen.busy_ns + reading_ns);
  const bool guesses = s.steps > 0 || (!s.has_stamps && s.pauses + s.outages > 0);  // what waiting packets span
  RC_ASSERT(seen.left_out == 0 || guesses || seen.freshest_out_ns >= LagGate::kLook_ns);
  const bool keeps_up = s.load_percent <= 60 && s.outages == 0 && s.halts == 0;
  RC_ASSERT(!keeps_up || seen.left_out == 0);
  RC_ASSERT(seen.rises);
  RC_ASSERT(seen.off_ns <= ArrivalClock::kBound_ns + seen.backlog * ArrivalClock::kLeastStep_ns);
}

Scenario any_scenario(int longest_s) {
  using rc::gen::inRange;
  const auto some = [](int most) {
    return *rc::gen::weightedOneOf<int>({{2, rc::gen::just(0)}, {1, inRange(1, most)}});
  };
  Scenario s;
  s.rate = *inRange(1, 121);
  s.drift_permille = *inRange(-50, 51);
  s.has_stamps = *rc::gen::arbitrary<bool>();
  s.key_every = *rc::gen::weightedOneOf<int>({{1, rc::gen::just(1)}, {3, inRange(1, 4 * s.rate + 1)}});
  s.jitter_ms = some(80);
  s.load_percent = *rc::gen::weightedOneOf<int>({{4, inRange(1, 60)}, {2, inRange(60, 160)}, {1, inRange(160, 800)}});
  s.steps = some(400);
  s.pauses = some(200);
  s.outages = some(200);
  s.halts = some(100);
  s.length_s = *inRange(5, longest_s + 1);
  s.seed = *rc::gen::arbitrary<unsigned>();
  return s;
}

struct Totals {
  std::int64_t streams = 0, packets = 0, left_out = 0, looks = 0, seconds = 0;
  std::int64_t longest_silence_ns = 0, oldest_ns = 0;
};

Totals simulate(int streams, int longest_s) {
  Totals totals;
  rc::detail::TestParams params = rc::detail::configuration().testParams;
  params.maxSuccess = streams;
  if (std::getenv("SACCADE_SIMULATIONS") == nullptr) params.seed = 1;  // the suite's run is always the same
  rc::detail::TestMetadata metadata;
  metadata.id = metadata.description = "live streams";
  const auto result = rc::detail::checkTestable(
      [&] {
        const Scenario s = any_scenario(longest_s);
        const Seen seen = Reader(s).run();
        RC_LOG() << s << "\n";
        expect_promises(s, seen);
        ++totals.streams;
        totals.packets += seen.packets;
        totals.left_out += seen.left_out;
        totals.looks += seen.looks;
        totals.seconds += s.length_s;
        totals.longest_silence_ns = std::max(totals.longest_silence_ns, seen.silence_ns - seen.longest_gap_ns);
        totals.oldest_ns = std::max(totals.oldest_ns, seen.oldest_ns);
      },
      metadata, params);
  std::ostringstream text;
  rc::detail::printResultMessage(result, text);
  EXPECT_TRUE(result.template is<rc::detail::SuccessResult>()) << text.str();
  return totals;
}

TEST(LiveStream, AnySenderAndReader_IsNeverSilentNorOld) {
  const char* wanted = std::getenv("SACCADE_SIMULATIONS");
  const Totals t = wanted != nullptr ? simulate(std::atoi(wanted), 3 * 3600) : simulate(1000, 600);
  std::cout << t.streams << " streams, " << t.seconds / 3600 << " h, " << t.packets << " packets, " << t.left_out
            << " left out, " << t.looks << " times read ahead; longest silence but for the sender's "
            << static_cast<double>(t.longest_silence_ns) * 1e-9 << " s, oldest packet "
            << static_cast<double>(t.oldest_ns) * 1e-9 << " s\n";
}

// The bars of an hour each, without a frame lost or a pause.
TEST(LiveStream, AnHourOfADriftingSender_LosesNothing) {
  for (const auto& [rate, drift, stamps] : {std::tuple{25, 4, true}, {30, 50, true}, {30, -50, true}, {10, 0, false}}) {
    Scenario s;
    s.rate = rate;
    s.drift_permille = drift;
    s.has_stamps = stamps;
    s.key_every = stamps ? 2 * rate : 1;
    s.jitter_ms = 10;
    s.load_percent = 50;
    s.length_s = 3600;
    const Seen seen = Reader(s).run();
    EXPECT_EQ(seen.left_out, 0) << s;
    EXPECT_GE(seen.given, 3600 * rate - rate) << s;
    EXPECT_LE(seen.oldest_ns, kSecond / rate) << s;
    EXPECT_LE(seen.off_ns, 100'000'000) << s;
  }
}

}  // namespace
}  // namespace saccade
