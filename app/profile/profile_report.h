// What a profile run measured, and its two forms: a table for people, JSON for programs.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "pipeline/run/session.h"

namespace saccade {

// Shares between 0 and 1 in steps of 1/10000, in constant memory.
class ShareHistogram {
 public:
  void record(double share);
  double percentile(double percent) const;  // nearest rank

 private:
  static constexpr int kSteps = 10000;
  std::array<std::int64_t, kSteps + 1> bins_{};
  std::int64_t count_ = 0;
};

// A count per frame: its mean and maximum.
class FrameTally {
 public:
  void record(std::int64_t value);
  double mean() const { return count_ > 0 ? static_cast<double>(sum_) / static_cast<double>(count_) : 0; }
  std::int64_t max() const { return max_; }

 private:
  std::int64_t sum_ = 0, count_ = 0, max_ = 0;
};

struct ProfileReport {
  SessionFacts run;
  double budget_ms = 0;
  double wall_s = 0;
  ShareHistogram damage_share;  // of each frame
  FrameTally rectangles;
  FrameTally queue_depth;
  std::int64_t peak_resident_bytes = 0;
  bool interrupted = false;

  double frame_p99_ms() const { return run.time(Stage::kFrame).percentile_ms(99); }
  bool over_budget() const { return frame_p99_ms() > budget_ms; }
};

std::string to_text(const ProfileReport& report);
std::string to_json(const ProfileReport& report);

}  // namespace saccade
