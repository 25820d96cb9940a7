// Stage times of the last seconds: what the panel shows, calmly.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "ui/picture/view_state.h"

namespace saccade::ui {

// Percentiles by nearest rank over the samples of the last kSpan_s seconds. One thread.
class RecentStages {
 public:
  static constexpr double kSpan_s = 5;
  void note(Stage stage, double ms, std::int64_t now_ns);
  // In the order of Stage; stages without samples are left out.
  void summarize(std::int64_t now_ns, std::vector<StageTimes>& out);

 private:
  struct Sample {
    std::int64_t at_ns;
    float ms;
  };
  std::array<std::deque<Sample>, kStageCount> samples_;
  std::vector<float> sorted_;
};

StageTimes summarize(Stage stage, const DurationHistogram& histogram);

}  // namespace saccade::ui
