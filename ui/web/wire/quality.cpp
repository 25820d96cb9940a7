#include "ui/web/wire/quality.h"

#include <algorithm>

namespace saccade::ui {
namespace {

constexpr double kLate_ms = 90, kVeryLate_ms = 250, kSoon_ms = 45;
constexpr int kLateInRow = 3, kSoonInRow = 10;
constexpr std::int64_t kLeastPatience_ns = 2'000'000'000, kMostPatience_ns = 60'000'000'000;
constexpr std::int64_t kRegret_ns = 5'000'000'000;  // a rung that was left this soon was a mistake
constexpr int kLast = static_cast<int>(kQualitySteps.size()) - 1;

}  // namespace

void QualityLadder::fix(std::optional<int> rung) {
  fixed_ = rung ? std::optional(std::clamp(*rung, 0, kLast)) : std::nullopt;
  late_ = soon_ = 0;
}

void QualityLadder::go_to(int rung, std::int64_t now_ns) {
  rung = std::clamp(rung, 0, kLast);
  if (rung < rung_) {
    raised_ns_ = now_ns;
  } else if (raised_ns_ != 0 && now_ns - raised_ns_ < kRegret_ns) {
    patience_ns_ = std::min(2 * patience_ns_, kMostPatience_ns);
    raised_ns_ = 0;
  }
  rung_ = rung;
  changed_ns_ = now_ns;
  late_ = soon_ = 0;
}

// Pictures of another rung were on their way when it changed.
void QualityLadder::note_ack(int rung, double ack_ms, double round_trip_ms, std::int64_t now_ns) {
  if (fixed_ || rung != rung_) return;
  const double taken_ms = std::max(ack_ms - round_trip_ms, 0.0);
  if (changed_ns_ == 0) changed_ns_ = now_ns;
  if (taken_ms > kVeryLate_ms) return go_to(rung_ + 2, now_ns);
  late_ = taken_ms > kLate_ms ? late_ + 1 : 0;
  soon_ = taken_ms < kSoon_ms ? soon_ + 1 : 0;
  if (late_ >= kLateInRow) return go_to(rung_ + 1, now_ns);
  if (raised_ns_ != 0 && now_ns - raised_ns_ >= kRegret_ns) {  // it held
    patience_ns_ = kLeastPatience_ns;
    raised_ns_ = 0;
  }
  if (rung_ > 0 && soon_ >= kSoonInRow && now_ns - changed_ns_ >= patience_ns_) go_to(rung_ - 1, now_ns);
}

void QualityLadder::note_bytes(std::size_t bytes, double ack_ms, double round_trip_ms) {
  const double rate = static_cast<double>(bytes) / std::max((ack_ms - round_trip_ms) * 1e-3, 1e-3);
  bytes_per_s_ = bytes_per_s_ == 0 ? rate : bytes_per_s_ + 0.2 * (rate - bytes_per_s_);
}

}  // namespace saccade::ui
