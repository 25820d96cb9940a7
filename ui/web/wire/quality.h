// How good the pictures are that a page gets, by how long it takes to acknowledge them. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace saccade::ui {

struct QualityStep {
  int jpeg;   // 1..100
  bool half;  // half as wide and half as tall
};

// From the best to the smallest: about 160, 110, 80, 60, 30 and 20 KB for 1280x720 with the panel.
inline constexpr std::array<QualityStep, 6> kQualitySteps{
    {{80, false}, {60, false}, {40, false}, {25, false}, {45, true}, {25, true}}};
inline constexpr int kSharpQuality = 95;  // of the picture that stands still

// One thread.
class QualityLadder {
 public:
  int rung() const { return fixed_ ? *fixed_ : rung_; }
  const QualityStep& step() const { return kQualitySteps[static_cast<std::size_t>(rung())]; }
  // A person's choice, an index of kQualitySteps; none: by the link again.
  void fix(std::optional<int> rung);
  bool is_fixed() const { return fixed_.has_value(); }

  // A picture of `rung` was drawn ack_ms after it was sent; round_trip_ms: of a few bytes on the same link.
  void note_ack(int rung, double ack_ms, double round_trip_ms, std::int64_t now_ns);

  // What the link carries, in bytes a second, by the latest acknowledgements; 0: not known.
  double bytes_per_s() const { return bytes_per_s_; }
  void note_bytes(std::size_t bytes, double ack_ms, double round_trip_ms);

 private:
  void go_to(int rung, std::int64_t now_ns);

  int rung_ = 0;
  std::optional<int> fixed_;
  int late_ = 0, soon_ = 0;  // pictures in a row
  std::int64_t changed_ns_ = 0, raised_ns_ = 0;
  std::int64_t patience_ns_ = 2'000'000'000;  // until a better rung is tried
  double bytes_per_s_ = 0;
};

}  // namespace saccade::ui
