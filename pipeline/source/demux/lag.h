// How far a live stream's decoding is behind the stream, and what to leave out to catch up.
#pragma once

#include <cstdint>
#include <optional>

namespace saccade {

// Note [Late packets]
// Packets of a live stream that wait in sockets grow old unseen. Each packet's time stamp against the clock tells: what
// that difference exceeds its least value by is the lag. The least value rises by a thousandth of the time that passes,
// so that clocks which drift apart do not read as lag. More than kPatience_ns behind, packets are left out up to the
// next key frame.
class LagGate {
 public:
  static constexpr std::int64_t kPatience_ns = 1'000'000'000;

  // One packet, in the order they come. False: leave it out.
  bool admits(std::optional<std::int64_t> ts_ns, std::int64_t now_ns, bool is_key);
  std::int64_t lag_ns() const { return lag_ns_; }

 private:
  std::optional<std::int64_t> least_ns_;  // of now - ts
  std::int64_t last_now_ns_ = 0;
  std::int64_t lag_ns_ = 0;
  bool skipping_ = false;
};

}  // namespace saccade
