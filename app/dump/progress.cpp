#include "app/dump/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "app/json/json_file.h"

namespace saccade {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kLinePeriod = std::chrono::milliseconds(100);
constexpr auto kJsonPeriod = std::chrono::seconds(1);

std::string clock_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::lround(seconds));
  if (whole >= 3600) return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

double damage_share(const ProgressState& state) {
  return state.tiles > 0 ? static_cast<double>(state.damaged_tiles) / static_cast<double>(state.tiles) : 0.0;
}

double since(Clock::time_point begin) {
  return std::max(std::chrono::duration<double>(Clock::now() - begin).count(), 1e-6);
}

}  // namespace

Progress::Progress(const Options& options, const std::string& input, const StreamInfo& info)
    : input_(input), begin_(Clock::now()) {
  if (options.progress == ProgressMode::kJson) {
    style_ = Style::kJson;
  } else if (options.progress == ProgressMode::kAuto && isatty(STDERR_FILENO) != 0) {
    style_ = Style::kLine;
  }
  next_ = begin_ + (style_ == Style::kJson ? Clock::duration(kJsonPeriod) : Clock::duration(kLinePeriod));
  const SourceConfig& source = options.source;
  total_frames_ = source.max_frames;
  if (source.loops < 0) return;
  const double plays = static_cast<double>(source.loops) + 1;
  if (source.duration_s) {
    total_s_ = *source.duration_s * plays;
  } else if (info.duration_s) {
    total_s_ = std::max(*info.duration_s - source.start_s, 0.0) * plays;
  }
}

Progress::~Progress() {
  if (line_drawn_) std::fputs("\r\033[K", stderr);
}

bool Progress::due() { return style_ != Style::kNone && Clock::now() >= next_; }

void Progress::update(const ProgressState& state) {
  if (style_ == Style::kLine) draw_line(state);
  if (style_ == Style::kJson) print_json(state, false);
  next_ = Clock::now() + (style_ == Style::kJson ? Clock::duration(kJsonPeriod) : Clock::duration(kLinePeriod));
}

void Progress::finish(const ProgressState& state) {
  if (style_ == Style::kJson) print_json(state, true);
}

void Progress::start_over(const ProgressState& so_far) { first_reading_ = so_far; }

const ProgressState& Progress::shown(const ProgressState& state) const {
  return first_reading_ && state.frames < first_reading_->frames ? *first_reading_ : state;
}

double Progress::done_share(const ProgressState& state) const {
  const double share = read_share(state);
  if (!first_reading_) return share;
  const double first = read_share(*first_reading_);  // the second one most likely ends where the first one did
  return first > 0 ? std::min((first + share) / (2 * first), 1.0) : 0.0;
}

double Progress::read_share(const ProgressState& state) const {
  double share = 0;
  if (total_frames_) share = static_cast<double>(state.frames) / static_cast<double>(*total_frames_);
  if (total_s_ && *total_s_ > 0) share = std::max(share, state.media_s / *total_s_);
  return std::min(share, 1.0);
}

void Progress::draw_line(const ProgressState& now) {
  const double elapsed_s = since(begin_);
  const double share = done_share(now);
  const ProgressState& state = shown(now);
  const std::string left =
      share > 0 ? fmt::format("{:3.0f} %  ETA {}  ", share * 100, clock_text(elapsed_s * (1 - share) / share))
                : std::string();
  fmt::print(stderr, "\r\033[K{}{}  {} frames  {:.0f}/s  {:.1f}x  {}{} emissions  damage {:.1f} %  drops {}", input_,
             first_reading_ ? ", over again" : "", state.frames, static_cast<double>(state.frames) / elapsed_s,
             state.media_s / elapsed_s, left, state.emissions, damage_share(state) * 100, state.drops);
  std::fflush(stderr);
  line_drawn_ = true;
}

void Progress::print_json(const ProgressState& now, bool last) {
  const double elapsed_s = since(begin_);
  const double share = last ? 1.0 : done_share(now);
  const ProgressState& state = shown(now);
  const Json line = {{"input", input_},
                     {"done", last},
                     {"elapsed_s", elapsed_s},
                     {"frames", state.frames},
                     {"frames_per_s", static_cast<double>(state.frames) / elapsed_s},
                     {"speed", state.media_s / elapsed_s},
                     {"eta_s", share > 0 ? Json(elapsed_s * (1 - share) / share) : Json(nullptr)},
                     {"emissions", state.emissions},
                     {"damage_share", damage_share(state)},
                     {"drops", state.drops}};
  fmt::print(stderr, "{}\n", json_text(line, -1));
}

}  // namespace saccade
