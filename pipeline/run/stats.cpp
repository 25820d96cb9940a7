#include "pipeline/run/stats.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace saccade {
namespace {

constexpr double kNsPerMs = 1e6;

}  // namespace

// Below 2^kSubBits ns a bin is one nanosecond; above, an octave has 2^kSubBits equal bins.
std::size_t DurationHistogram::bin_of(std::int64_t duration_ns) {
  const auto value = static_cast<std::uint64_t>(duration_ns);
  const int octave = std::max(static_cast<int>(std::bit_width(value)) - 1 - kSubBits, 0);
  const std::size_t bin = (static_cast<std::size_t>(octave) << kSubBits) + static_cast<std::size_t>(value >> octave);
  return std::min(bin, kBinCount - 1);
}

double DurationHistogram::bin_middle_ns(std::size_t bin) {
  constexpr std::size_t kSubCount = std::size_t{1} << kSubBits;
  if (bin < 2 * kSubCount) return static_cast<double>(bin);
  const int octave = static_cast<int>(bin >> kSubBits) - 1;
  const std::size_t mantissa = bin - (static_cast<std::size_t>(octave) << kSubBits);
  return std::ldexp(static_cast<double>(mantissa) + 0.5, octave);
}

void DurationHistogram::record(std::int64_t duration_ns) {
  const std::int64_t ns = std::max<std::int64_t>(duration_ns, 0);
  std::uint32_t& bin = bins_[bin_of(ns)];
  if (bin != std::numeric_limits<std::uint32_t>::max()) ++bin;
  min_ns_ = count_ == 0 ? ns : std::min(min_ns_, ns);
  max_ns_ = std::max(max_ns_, ns);
  sum_ns_ += ns;
  ++count_;
}

double DurationHistogram::mean_ms() const { return count_ == 0 ? 0.0 : total_ms() / static_cast<double>(count_); }
double DurationHistogram::max_ms() const { return static_cast<double>(max_ns_) / kNsPerMs; }
double DurationHistogram::min_ms() const { return static_cast<double>(min_ns_) / kNsPerMs; }
double DurationHistogram::total_ms() const { return static_cast<double>(sum_ns_) / kNsPerMs; }

double DurationHistogram::percentile_ms(double percent) const {
  if (count_ == 0) return 0.0;
  const double wanted = std::ceil(std::clamp(percent, 0.0, 100.0) / 100.0 * static_cast<double>(count_));
  const auto rank = std::clamp<std::int64_t>(static_cast<std::int64_t>(wanted), 1, count_);
  if (rank == 1) return min_ms();
  if (rank == count_) return max_ms();
  std::int64_t seen = 0;
  for (std::size_t bin = 0; bin < kBinCount; ++bin) {
    seen += bins_[bin];
    if (seen >= rank) {
      return std::clamp(bin_middle_ns(bin), static_cast<double>(min_ns_), static_cast<double>(max_ns_)) / kNsPerMs;
    }
  }
  return max_ms();
}

}  // namespace saccade
