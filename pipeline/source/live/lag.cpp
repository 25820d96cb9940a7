#include "pipeline/source/live/lag.h"

#include <algorithm>
#include <cstdlib>

namespace saccade {
namespace {

constexpr std::int64_t kJump_ns = 60'000'000'000;            // no delay: the stream's clock was set
constexpr std::int64_t kMostBytes = std::int64_t{64} << 20;  // read ahead; then what is there is decoded
constexpr std::int64_t kForgivenShare = 1000;  // the least delay rises by this part of the time that passes,
constexpr std::int64_t kProvenShare = 8;       // and by this one where a read had to wait: clocks drift
constexpr std::int64_t kIntervalMemory = 8;
constexpr std::int64_t kGuess_ns = 40'000'000;           // from packet to packet, where nothing is known
constexpr std::int64_t kFasterShare = 10;                // faster than any clock that drifts
constexpr std::int64_t kLongestStep_ns = 1'500'000'000;  // from packet to packet; a longer one says nothing
constexpr std::size_t kFew = 2;                          // so many packets are no lag: a slow stream has them

}  // namespace

// See Note [Late packets].
bool LagGate::may_lag(std::int64_t now_ns) const {
  const std::int64_t since_ns = now_ns - looked_ns_;
  if (!empty_ns_ || since_ns <= kLook_ns) return false;
  if (least_ns_ && delay_ns_ - *least_ns_ > kLook_ns) return true;
  if (!last_ts_ns_ && since_ns > kUnsure_ns) return true;
  return since_ns > kPatience_ns && stream_ns_ < since_ns + since_ns / kFasterShare;
}

bool LagGate::wants_packet(std::int64_t now_ns) {
  if (waiting_.empty()) return true;
  if (!reading_ahead_ && may_lag(now_ns)) {
    reading_ahead_ = true;
    ahead_since_ns_ = now_ns;
  }
  const bool enough = now_ns - ahead_since_ns_ > kPatience_ns || waiting_bytes_ > kMostBytes;
  if (reading_ahead_ && enough) look_again(now_ns);
  return reading_ahead_;
}

std::size_t LagGate::add(const LivePacket& packet) {
  const bool had_to_wait = packet.waited_ns >= kWait_ns;
  note_delay(packet, had_to_wait);
  note_stream_time(packet);
  if (!empty_ns_) empty_ns_ = looked_ns_ = packet.now_ns;
  waiting_.push_back({packet, *empty_ns_});
  waiting_bytes_ += packet.bytes;
  ++since_empty_;
  const bool may_leave_out = had_to_wait || (reading_ahead_ && packet.is_key);
  if (had_to_wait) nothing_behind(packet.now_ns);
  const std::size_t unread = waiting_.size() - (had_to_wait ? 1 : 0);
  if (!may_leave_out || unread <= kFew || span_ns(unread - 1) <= kPatience_ns) return 0;
  return leave_out_before(newest_key());
}

void LagGate::gave() {
  waiting_bytes_ -= waiting_.front().packet.bytes;
  waiting_.pop_front();
}

void LagGate::nothing_behind(std::int64_t now_ns) {
  if (empty_ns_) note_interval(now_ns);
  empty_ns_ = now_ns;
  since_empty_ = 0;
  look_again(now_ns);
}

void LagGate::look_again(std::int64_t now_ns) {
  looked_ns_ = now_ns;
  stream_ns_ = 0;
  reading_ahead_ = false;
}

void LagGate::note_interval(std::int64_t now_ns) {
  if (since_empty_ == 0 || now_ns <= *empty_ns_) return;
  const std::int64_t interval_ns = (now_ns - *empty_ns_) / since_empty_;
  const std::int64_t share = since_empty_ >= kIntervalMemory ? 2 : kIntervalMemory;  // a pause is no interval
  const std::int64_t most_ns = interval_ns_ / share;
  interval_ns_ =
      interval_ns_ == 0 ? interval_ns : interval_ns_ + std::clamp(interval_ns - interval_ns_, -most_ns, most_ns);
}

// Packets without stamps are as far apart as they use to come.
void LagGate::note_stream_time(const LivePacket& packet) {
  std::int64_t step_ns = interval_ns_ > 0 ? interval_ns_ : kGuess_ns;
  if (packet.ts_ns) step_ns = last_ts_ns_ ? *packet.ts_ns - *last_ts_ns_ : 0;
  if (step_ns > 0 && step_ns <= kLongestStep_ns) stream_ns_ += step_ns;
  last_ts_ns_ = packet.ts_ns;
}

void LagGate::note_delay(const LivePacket& packet, bool had_to_wait) {
  if (!packet.ts_ns) return;
  delay_ns_ = packet.now_ns - *packet.ts_ns;
  if (!least_ns_ || std::abs(delay_ns_ - *least_ns_) > kJump_ns) {
    least_ns_ = delay_ns_;
  } else {
    const std::int64_t passed_ns = std::min(packet.now_ns - noted_ns_, kJump_ns);
    least_ns_ = std::min(*least_ns_ + passed_ns / (had_to_wait ? kProvenShare : kForgivenShare), delay_ns_);
  }
  noted_ns_ = packet.now_ns;
}

// From the oldest packet that waits to another one: by their time stamps, else by how packets use to come, and never
// more than the time in which they can have come.
std::int64_t LagGate::span_ns(std::size_t last) const {
  const Waiting& oldest = waiting_.front();
  const LivePacket& packet = waiting_[last].packet;
  std::int64_t span_ns = static_cast<std::int64_t>(last) * interval_ns_;
  if (oldest.packet.ts_ns && packet.ts_ns && *packet.ts_ns > *oldest.packet.ts_ns) {
    span_ns = *packet.ts_ns - *oldest.packet.ts_ns;
  }
  return std::min(span_ns, packet.now_ns - oldest.not_before_ns);
}

// 0: none but the oldest.
std::size_t LagGate::newest_key() const {
  for (std::size_t i = waiting_.size(); i-- > 1;) {
    if (waiting_[i].packet.is_key) return i;
  }
  return 0;
}

std::size_t LagGate::leave_out_before(std::size_t key) {
  left_out_ns_ += span_ns(key);
  for (std::size_t i = 0; i < key; ++i) gave();
  return key;
}

}  // namespace saccade
