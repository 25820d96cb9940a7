// What a profile run measured, and its two forms: a table for people, JSON for programs.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/run/frame_queue.h"
#include "pipeline/run/live_meter.h"
#include "pipeline/run/pipeline.h"
#include "pipeline/run/stats.h"
#include "pipeline/source/frame/frame_source.h"
#include "pipeline/source/frame/stream_info.h"

namespace saccade {

// Shares between 0 and 1 in steps of 1/10000, in constant memory.
class ShareHistogram {
 public:
  void record(double share);
  double mean() const { return count_ > 0 ? sum_ / static_cast<double>(count_) : 0; }
  double percentile(double percent) const;  // nearest rank

 private:
  static constexpr int kSteps = 10000;
  std::array<std::int64_t, kSteps + 1> bins_{};
  std::int64_t count_ = 0;
  double sum_ = 0;
};

// A count per frame: its mean and maximum.
class Tally {
 public:
  void record(std::int64_t value);
  double mean() const { return count_ > 0 ? static_cast<double>(sum_) / static_cast<double>(count_) : 0; }
  std::int64_t max() const { return max_; }

 private:
  std::int64_t sum_ = 0, count_ = 0, max_ = 0;
};

struct ProfileReport {
  StreamInfo stream;
  std::string backend;
  double budget_ms = 0;
  double wall_s = 0;
  double media_s = 0;               // from the first frame's time to the last one's
  std::vector<Stage> shown_stages;  // in order
  std::array<DurationHistogram, kStageCount> stages;
  std::array<DurationHistogram, kDeviceWorks> device;  // by DeviceTime::Work; those with a count are shown
  PipelineCounters counters;
  std::int64_t patches_per_emission = 0;
  ShareHistogram damage_share;
  Tally rectangles;
  Tally queue_depth;
  std::size_t queue_capacity = 0;
  std::string policy;  // of the queue
  LiveMeter live;
  StreamEnd end;
  QueueCounters queue;
  SourceCounters source;
  std::int64_t peak_resident_bytes = 0;
  bool interrupted = false;

  DurationHistogram& stage(Stage s) { return stages[static_cast<std::size_t>(s)]; }
  const DurationHistogram& stage(Stage s) const { return stages[static_cast<std::size_t>(s)]; }
  double frame_p99_ms() const { return stage(Stage::kFrame).percentile_ms(99); }
  bool over_budget() const { return frame_p99_ms() > budget_ms; }
};

std::string to_text(const ProfileReport& report);
std::string to_json(const ProfileReport& report);

}  // namespace saccade
