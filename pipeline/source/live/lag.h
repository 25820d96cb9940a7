// How far the reading of a live stream is behind the stream, and what to leave out to catch up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

namespace saccade {

// Note [Late packets]
// A live stream lags when its packets wait unread, and only then: a slow or drifting sender is no lag. A read that had
// to wait proves that nothing lay behind, so a packet is at most as old as the last such read. When that is long ago,
// packets are read ahead, undecoded, until a read has to wait again; what is there then is the lag, exactly. If it
// spans more than kPatience_ns, all before its newest key frame is left out; if it doesn't, or has no key frame,
// nothing is.
//
// Long ago: kPatience_ns, unless the stream's time ran faster than the clock since then (a sender that doesn't pace
// itself, a burst that is being worked off); or kLook_ns where the newest packet's delay, clock minus stamp, exceeds
// the least one by that; or kUnsure_ns where packets have no stamps, and the stream's time is a guess. A mistake costs
// one wait for a packet, and no packet. So no picture is older than two seconds (without stamps, at worst six) and the
// time from key frame to key frame, and the stream is never silent for longer than it takes to read what waits.
struct LivePacket {
  std::optional<std::int64_t> ts_ns;  // the sender's; none: the stream carries no times
  std::int64_t now_ns = 0;            // when the read returned
  std::int64_t waited_ns = 0;         // how long the read slept for it
  bool is_key = false;
  std::int64_t bytes = 0;
};

// Keeps the order and facts of the packets that were read and not yet given out; who calls keeps the packets.
// Pure: the clock is passed in. One thread.
class LagGate {
 public:
  static constexpr std::int64_t kPatience_ns = 1'000'000'000;
  static constexpr std::int64_t kLook_ns = 500'000'000;
  static constexpr std::int64_t kUnsure_ns = 5'000'000'000;
  static constexpr std::int64_t kWait_ns = 2'000'000;  // a shorter sleep may be for the sender's next piece

  // True: read one more packet and add() it. False: give the oldest one out, and say so with gave().
  bool wants_packet(std::int64_t now_ns);
  // Returns how many of the oldest packets are to be left out, for good.
  std::size_t add(const LivePacket& packet);
  void gave();
  // A read found nothing, or the stream is over: nothing lies behind.
  void nothing_behind(std::int64_t now_ns);

  std::size_t waiting() const { return waiting_.size(); }
  std::int64_t left_out_ns() const { return left_out_ns_; }  // in all: the time that the packets left out spanned

 private:
  struct Waiting {
    LivePacket packet;
    std::int64_t not_before_ns = 0;  // it came after this
  };
  bool may_lag(std::int64_t now_ns) const;
  void note_stream_time(const LivePacket& packet);
  void note_delay(const LivePacket& packet, bool had_to_wait);
  void note_interval(std::int64_t now_ns);
  void look_again(std::int64_t now_ns);
  std::int64_t span_ns(std::size_t last) const;
  std::size_t leave_out_before(std::size_t key);
  std::size_t newest_key() const;

  std::deque<Waiting> waiting_;
  std::int64_t waiting_bytes_ = 0;
  bool reading_ahead_ = false;
  std::int64_t ahead_since_ns_ = 0;
  std::optional<std::int64_t> empty_ns_;  // when the last read that had to wait returned, or the first one of all
  std::int64_t looked_ns_ = 0;            // likewise, or when reading ahead was last given up
  std::int64_t since_empty_ = 0;          // packets since empty_ns_
  std::int64_t stream_ns_ = 0;            // what the stream's time went on by since looked_ns_
  std::optional<std::int64_t> last_ts_ns_;
  std::int64_t interval_ns_ = 0;          // between packets, as they came between such reads; 0: unknown
  std::optional<std::int64_t> least_ns_;  // of now - ts
  std::int64_t delay_ns_ = 0;             // the newest packet's that has a ts
  std::int64_t noted_ns_ = 0;             // when least_ns_ was last looked at
  std::int64_t left_out_ns_ = 0;
};

}  // namespace saccade
