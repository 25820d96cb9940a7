// How far a run is, on stderr: one line that is redrawn on a terminal, or JSON lines.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "app/options/options.h"
#include "pipeline/source/frame/stream_info.h"

namespace saccade {

struct ProgressState {
  std::int64_t frames = 0;
  std::int64_t emissions = 0;
  std::int64_t drops = 0;
  std::int64_t damaged_tiles = 0;  // of all frames
  std::int64_t tiles = 0;
  double media_s = 0;  // time of the newest frame since the first
};

// One thread. update() costs a clock read until the next report is due: 10 a second on a terminal, one as JSON.
class Progress {
 public:
  Progress(const Options& options, const std::string& input, const StreamInfo& info);
  ~Progress();  // takes an unfinished line off the terminal
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  bool due();  // time for a report
  void update(const ProgressState& state);
  // The input is read once more, from its start; so_far: of the first reading. Until the second one has come as far its
  // counts are reported, and what is left is that of both.
  void start_over(const ProgressState& so_far);
  void finish(const ProgressState& state);

 private:
  enum class Style : std::uint8_t { kNone, kLine, kJson };
  double read_share(const ProgressState& state) const;  // 0..1; 0: unknown
  double done_share(const ProgressState& state) const;  // of all readings
  void draw_line(const ProgressState& now);
  void print_json(const ProgressState& now, bool last);

  const ProgressState& shown(const ProgressState& state) const;

  Style style_ = Style::kNone;
  std::string input_;
  std::optional<std::int64_t> total_frames_;
  std::optional<double> total_s_;
  std::optional<ProgressState> first_reading_;
  std::chrono::steady_clock::time_point begin_;
  std::chrono::steady_clock::time_point next_;
  bool line_drawn_ = false;
};

}  // namespace saccade
