#include "ui/viewer/recent_stages.h"

#include <algorithm>
#include <cmath>

namespace saccade::ui {
namespace {

constexpr auto kSpan_ns = static_cast<std::int64_t>(RecentStages::kSpan_s * 1e9);

double at_rank(const std::vector<float>& sorted, double percent) {
  const double rank = std::ceil(percent / 100 * static_cast<double>(sorted.size()));
  const auto index = static_cast<std::size_t>(std::max(rank, 1.0)) - 1;
  return static_cast<double>(sorted[std::min(index, sorted.size() - 1)]);
}

}  // namespace

void RecentStages::note(Stage stage, double ms, std::int64_t now_ns) {
  auto& samples = samples_[static_cast<std::size_t>(stage)];
  samples.push_back({now_ns, static_cast<float>(ms)});
  while (now_ns - samples.front().at_ns > kSpan_ns) samples.pop_front();
}

void RecentStages::summarize(std::int64_t now_ns, std::vector<StageTimes>& out) {
  out.clear();
  for (std::size_t i = 0; i < samples_.size(); ++i) {
    auto& samples = samples_[i];
    while (!samples.empty() && now_ns - samples.front().at_ns > kSpan_ns) samples.pop_front();
    if (samples.empty()) continue;
    sorted_.clear();
    for (const Sample& sample : samples) sorted_.push_back(sample.ms);
    std::sort(sorted_.begin(), sorted_.end());
    out.push_back({static_cast<Stage>(i), at_rank(sorted_, 50), at_rank(sorted_, 95), at_rank(sorted_, 99),
                   static_cast<std::int64_t>(sorted_.size())});
  }
}

StageTimes summarize(Stage stage, const DurationHistogram& histogram) {
  return {stage, histogram.percentile_ms(50), histogram.percentile_ms(95), histogram.percentile_ms(99),
          histogram.count()};
}

}  // namespace saccade::ui
