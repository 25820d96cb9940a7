// Times and counts of the stages, in constant memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/enum_names.h"

namespace saccade {

// A log-linear histogram of durations: 64 steps per octave from 1 ns to over an hour, so a percentile is within
// 1/64 of the true one; count, sum, minimum and maximum are exact. record() allocates nothing.
class DurationHistogram {
 public:
  void record(std::int64_t duration_ns);
  std::int64_t count() const { return count_; }
  double mean_ms() const;
  double max_ms() const;
  double min_ms() const;
  double total_ms() const;
  double percentile_ms(double percent) const;  // 0..100, by nearest rank; 0 when empty

 private:
  static constexpr int kSubBits = 6;
  static constexpr int kOctaves = 42;
  static constexpr std::size_t kBinCount = static_cast<std::size_t>(kOctaves) << kSubBits;
  static std::size_t bin_of(std::int64_t duration_ns);
  static double bin_middle_ns(std::size_t bin);
  std::array<std::uint32_t, kBinCount> bins_{};
  std::int64_t count_ = 0, sum_ns_ = 0, max_ns_ = 0, min_ns_ = 0;
};

// kUpdate is kDiff, kUpload and kMips in one, where a backend fuses them.
enum class Stage : std::uint8_t { kDecode, kWait, kDiff, kUpload, kMips, kUpdate, kScanpath, kSample, kWrite, kFrame };
inline constexpr int kStageCount = 10;
inline constexpr EnumName<Stage> kStages[] = {
    {Stage::kDecode, "decode"}, {Stage::kWait, "wait"},     {Stage::kDiff, "diff"},         {Stage::kUpload, "upload"},
    {Stage::kMips, "mips"},     {Stage::kUpdate, "update"}, {Stage::kScanpath, "scanpath"}, {Stage::kSample, "sample"},
    {Stage::kWrite, "write"},   {Stage::kFrame, "frame"}};
constexpr std::span<const EnumName<Stage>> names_of(Stage) { return kStages; }

}  // namespace saccade
