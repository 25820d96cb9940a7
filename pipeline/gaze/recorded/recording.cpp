#include "pipeline/gaze/recorded/recording.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <optional>

#include "pipeline/error.h"
#include "pipeline/gaze/recorded/raw_recording.h"
#include "pipeline/gaze/recorded/text.h"

namespace saccade {
namespace {

constexpr double kMaxTimeS = 4.6e9;    // the difference of two fits in 64 bits of nanoseconds
constexpr double kAbsoluteS = 1e8;     // three years: no video is as long, so it is a clock's time
constexpr double kDisorderS = 1;       // rows of a tracker may be out of order by so much
constexpr double kSampleStepS = 0.06;  // rows closer than that are no fixations
constexpr double kBeyondShare = 0.2;
constexpr std::array<ScreenBox, 3> kScreens{{{0, 0, 1920, 1080}, {0, 0, 2560, 1440}, {0, 0, 3840, 2160}}};

// The reason why a row is refused; empty: it was taken.
std::string add_row(double t_s, double u, double v, RecordedScanpath& out) {
  if (!(std::abs(t_s) <= kMaxTimeS)) return fmt::format("time {} is out of range", t_s);
  if (!(u >= 0 && u <= 1)) return fmt::format("u {} is outside 0 to 1", u);
  if (!(v >= 0 && v <= 1)) return fmt::format("v {} is outside 0 to 1", v);
  const std::int64_t begin_ns = std::llround(t_s * 1e9);
  if (!out.begins_ns.empty() && begin_ns <= out.begins_ns.back()) return fmt::format("time {} does not rise", t_s);
  out.begins_ns.push_back(begin_ns);
  out.points.push_back({.u = static_cast<float>(u), .v = static_cast<float>(v)});
  return {};
}

void note_span(RecordedScanpath& out) {
  out.facts.begins_s = static_cast<double>(out.begins_ns.front()) / 1e9;
  out.facts.ends_s = static_cast<double>(out.begins_ns.back()) / 1e9;
}

// From what was read to what is followed: units, the clock, what is left out.
class Judge {
 public:
  Judge(const std::string& path, RawRecording raw, const RecordingConfig& config)
      : path_(path), raw_(std::move(raw)), config_(config) {}

  RecordedScanpath run() {
    if (raw_.looks.empty()) {
      throw InputError(fmt::format("{}: holds no fixation; expected lines of t_s,u,v, or a table of gaze", path_));
    }
    settle_space();
    settle_time();
    facts_.path = path_;
    facts_.format = raw_.format;
    facts_.samples = raw_.samples;
    facts_.rows = static_cast<std::int64_t>(raw_.looks.size());
    put_in_order();
    join_fixations();
    for (const RawLook& look : raw_.looks) take(look);
    if (out_.points.empty()) refuse_all();
    note_rate();
    out_.facts = std::move(facts_);
    note_span(out_);
    return std::move(out_);
  }

 private:
  [[noreturn]] void fail(int line, const std::string& reason) const {
    const char* expected = raw_.strict ? "; expected t_s,u,v with t_s rising and u, v from 0 to 1" : "";
    throw InputError(fmt::format("{}: line {}: {}{}", path_, line, reason, expected));
  }
  [[noreturn]] void refuse_all() const {
    const std::string what = first_refused_.empty() ? "no row holds a look" : first_refused_;
    const char* tried =
        facts_.off_screen > 0 ? "; give the units of the file: norm, norm-up, percent, px or px:WxH" : "";
    if (raw_.strict) fail(first_refused_line_, fmt::format("{}{}", what, tried));
    fail(first_refused_line_,
         fmt::format("{}; nothing of its {} rows lies on the picture ({}){}", what, facts_.rows, facts_.units, tried));
  }

  void settle_space();
  void settle_screen();
  void settle_time();
  void put_in_order();
  void join_fixations();
  void take(const RawLook& look);
  void note_rate();
  double share_of(auto&& is) const;
  double typical_step() const;
  TimeUnit guessed_unit() const;

  const std::string& path_;
  RawRecording raw_;
  const RecordingConfig& config_;
  GazeSpace space_ = GazeSpace::kNorm;
  ScreenBox screen_;
  double unit_s_ = 1;
  double zero_ = 0;
  RecordingFacts facts_;
  RecordedScanpath out_;
  std::string first_refused_;
  int first_refused_line_ = 0;
};

// Of the looks that are places.
double Judge::share_of(auto&& is) const {
  std::size_t seen = 0, count = 0;
  for (const RawLook& look : raw_.looks) {
    if (look.kind != LookKind::kSeen) continue;
    ++seen;
    count += is(look) ? 1 : 0;
  }
  return seen > 0 ? static_cast<double>(count) / static_cast<double>(seen) : 0.0;
}

void Judge::settle_space() {
  space_ = config_.units.space != GazeSpace::kAuto ? config_.units.space : raw_.space;
  if (space_ == GazeSpace::kAuto) {
    const double large = share_of([](const RawLook& look) { return std::abs(look.x) > 2 || std::abs(look.y) > 2; });
    space_ = large > 0.5 ? GazeSpace::kPx : GazeSpace::kNorm;
  }
  if (space_ == GazeSpace::kPx) settle_screen();
  facts_.units = space_ == GazeSpace::kNorm     ? "norm"
                 : space_ == GazeSpace::kNormUp ? "norm-up"
                 : screen_ == kPercent          ? "percent"
                                                : fmt::format("px of {}x{}", screen_.width_px, screen_.height_px);
}

// The screen as asked for, as the file says, or the frame. Where looks lie beyond the frame it was a larger one.
void Judge::settle_screen() {
  screen_ = config_.units.screen.width_px > 0 ? config_.units.screen : raw_.screen;
  if (screen_.width_px > 0) return;
  screen_ = {0, 0, static_cast<double>(config_.frame_width_px), static_cast<double>(config_.frame_height_px)};
  const auto beyond = [this](const ScreenBox& box) {
    return share_of([&](const RawLook& look) { return look.x > box.width_px || look.y > box.height_px; });
  };
  if (config_.units.space == GazeSpace::kPx || beyond(screen_) <= kBeyondShare) return;
  for (const ScreenBox& screen : kScreens) {
    if (beyond(screen) > kBeyondShare) continue;
    facts_.warnings.push_back(fmt::format(
        "{}: its pixels reach beyond the frame's {}x{}: a screen of {}x{} is assumed; give its size as unit "
        "px:WxH",
        path_, screen_.width_px, screen_.height_px, screen.width_px, screen.height_px));
    screen_ = screen;
    return;
  }
}

double Judge::typical_step() const {
  std::vector<double> steps;
  for (std::size_t i = 1; i < raw_.looks.size(); ++i) {
    const double step = raw_.looks[i].time - raw_.looks[i - 1].time;
    if (step > 0) steps.push_back(step);
  }
  if (steps.empty()) return 0;
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
  std::nth_element(steps.begin(), middle, steps.end());
  return *middle;
}

// A tracker takes 10 to 2500 samples a second; fixations last 0.05 to 5 s. Whole numbers are no seconds, unless few.
TimeUnit Judge::guessed_unit() const {
  const double first = raw_.looks.front().time;
  if (first >= 1e12 && first < 4e12) return TimeUnit::kMilliseconds;  // Unix times
  if (first >= 1e15 && first < 4e15) return TimeUnit::kMicroseconds;
  if (first >= 1e18 && first < 4e18) return TimeUnit::kNanoseconds;
  const double step = typical_step();
  const bool whole = std::all_of(raw_.looks.begin(), raw_.looks.end(),
                                 [](const RawLook& look) { return look.time == std::floor(look.time); });
  if (step == 0 || !whole) {
    // Milliseconds with a fraction: 8.333, 16.667.
    return step >= 5 ? TimeUnit::kMilliseconds : TimeUnit::kSeconds;
  }
  const double most_samples_s = 0.1;
  for (const TimeUnit unit : {TimeUnit::kMilliseconds, TimeUnit::kMicroseconds, TimeUnit::kNanoseconds}) {
    const double step_s = step * seconds(unit);
    if (raw_.samples && raw_.looks.size() >= 50 && step_s >= 0.0004 && step_s <= most_samples_s) return unit;
  }
  if (step < 5) return TimeUnit::kSeconds;
  if (step < 5000) return TimeUnit::kMilliseconds;
  return step < 5e6 ? TimeUnit::kMicroseconds : TimeUnit::kNanoseconds;
}

void Judge::settle_time() {
  TimeUnit unit = config_.units.time != TimeUnit::kAuto ? config_.units.time : raw_.time_unit;
  if (unit == TimeUnit::kAuto) unit = guessed_unit();
  unit_s_ = seconds(unit);
  const double first = raw_.looks.front().time;
  facts_.clock_begins_s = first * unit_s_;
  facts_.counted_from_first = raw_.own_clock;
  if (raw_.own_clock) zero_ = raw_.zero.value_or(first);
  if (raw_.own_clock || !(facts_.clock_begins_s >= kAbsoluteS) || !(facts_.clock_begins_s < 1e11)) return;
  facts_.counted_from_first = true;
  zero_ = first;
  const auto whole = static_cast<std::time_t>(facts_.clock_begins_s);
  facts_.warnings.push_back(
      fmt::format("{}: no row lies in the video: times begin at {:.3f} s ({:%Y-%m-%d %H:%M:%S} UTC, if they are Unix "
                  "times); they are counted from the first row",
                  path_, facts_.clock_begins_s, fmt::gmtime(whole)));
}

// Times rise; only a tracker's rows may be a little out of order, and may share a time.
void Judge::put_in_order() {
  double latest = -HUGE_VAL;
  for (const RawLook& look : raw_.looks) {
    const double t_s = (look.time - zero_) * unit_s_;
    if (!(std::abs(t_s) <= kMaxTimeS)) fail(look.line, fmt::format("time {} is out of range", look.time));
    const bool falls = t_s < latest - (raw_.own_clock ? kDisorderS : 0);
    if (falls || (raw_.strict && t_s == latest)) {
      fail(look.line, fmt::format("time {} does not rise{}", look.time,
                                  raw_.strict ? "" : "; is there more than one recording in the file?"));
    }
    latest = std::max(latest, t_s);
  }
  std::stable_sort(raw_.looks.begin(), raw_.looks.end(),
                   [](const RawLook& a, const RawLook& b) { return a.time < b.time; });
}

// Samples of one fixation become one row: their mean, from the first one's time.
void Judge::join_fixations() {
  std::vector<RawLook> joined;
  std::size_t count = 0;
  for (const RawLook& look : raw_.looks) {
    const bool same = !joined.empty() && look.fixation >= 0 && joined.back().fixation == look.fixation;
    if (!same) {
      joined.push_back(look);
      count = 1;
      continue;
    }
    if (look.kind != LookKind::kSeen) continue;
    ++count;
    ++facts_.repeated;
    RawLook& mean = joined.back();
    mean.x += (look.x - mean.x) / static_cast<double>(count);
    mean.y += (look.y - mean.y) / static_cast<double>(count);
  }
  raw_.looks = std::move(joined);
}

void Judge::take(const RawLook& look) {
  const auto leave_out = [&](std::int64_t& counter, const std::string& reason) {
    ++counter;
    if (!out_.gap_after.empty()) out_.gap_after.back() = 1;
    if (!first_refused_.empty()) return;
    first_refused_ = reason;
    first_refused_line_ = look.line;
  };
  double u = look.x, v = look.y;
  if (space_ == GazeSpace::kPx) {
    u = (look.x - screen_.left_px) / screen_.width_px;
    v = (look.y - screen_.top_px) / screen_.height_px;
  }
  if (space_ == GazeSpace::kNormUp) v = 1 - look.y;
  const bool inside_u = u >= 0 && u <= 1, inside_v = v >= 0 && v <= 1;
  if (look.kind == LookKind::kMissing) {
    return leave_out(facts_.missing,
                     inside_u ? fmt::format("v {} is outside 0 to 1", v) : fmt::format("u {} is outside 0 to 1", u));
  }
  if (look.kind == LookKind::kUnsure) return leave_out(facts_.unsure, "the tracker is unsure of it");
  if (look.kind == LookKind::kOther) return leave_out(facts_.others, "it is no fixation");
  if (look.kind == LookKind::kOffScreen || !inside_u || !inside_v) {
    return leave_out(facts_.off_screen,
                     inside_u ? fmt::format("v {} is outside 0 to 1", v) : fmt::format("u {} is outside 0 to 1", u));
  }
  const double t_s = (look.time - zero_) * unit_s_;
  const std::int64_t begin_ns = std::llround(t_s * 1e9);
  const GazePoint point{.u = static_cast<float>(u), .v = static_cast<float>(v)};
  if (!out_.begins_ns.empty() && begin_ns <= out_.begins_ns.back()) {  // the later row of one time counts
    ++facts_.repeated;
    out_.points.back() = point;
    return;
  }
  ++facts_.used;
  out_.begins_ns.push_back(begin_ns);
  out_.points.push_back(point);
  out_.gap_after.push_back(0);
}

void Judge::note_rate() {
  if (config_.raw || raw_.strict || out_.begins_ns.size() < 10) return;
  const double step_s = typical_step() * unit_s_;
  if (!raw_.samples || !(step_s > 0 && step_s < kSampleStepS)) return;
  facts_.warnings.push_back(fmt::format(
      "{}: {:.0f} rows a second are raw gaze, and each is taken for a fixation; set gaze to raw to follow them as they "
      "are",
      path_, 1 / step_s));
}

}  // namespace

RecordedScanpath recorded_scanpath(std::span<const double> t_u_v) {
  if (t_u_v.empty() || t_u_v.size() % 3 != 0) throw UsageError("scanpath: expected rows of t_s, u, v");
  RecordedScanpath scanpath;
  for (std::size_t row = 0; row < t_u_v.size() / 3; ++row) {
    const auto values = t_u_v.subspan(3 * row, 3);
    const std::string reason = add_row(values[0], values[1], values[2], scanpath);
    if (!reason.empty()) throw UsageError(fmt::format("scanpath: row {}: {}", row, reason));
  }
  scanpath.facts.format = "t_s,u,v";
  scanpath.facts.units = "norm";
  scanpath.facts.rows = scanpath.facts.used = static_cast<std::int64_t>(scanpath.points.size());
  note_span(scanpath);
  return scanpath;
}

RecordedScanpath read_recording(const std::string& path, const RecordingConfig& config) {
  if (path.empty()) throw UsageError(OfOption("fixation", "file"), "a path is missing; write file:PATH");
  const std::string text = read_text(path);
  RawRecording raw = is_eyelink(text) ? read_eyelink(path, text, config) : read_table(path, text, config);
  return Judge(path, std::move(raw), config).run();
}

std::string summary(const RecordingFacts& facts) {
  std::string skipped;
  const auto add = [&skipped](std::int64_t count, const char* one, const char* many) {
    if (count > 0) skipped += fmt::format("{}{} {}", skipped.empty() ? "" : ", ", count, count == 1 ? one : many);
  };
  add(facts.missing, "blink or gap", "blinks or gaps");
  add(facts.off_screen, "look off the screen", "looks off the screen");
  add(facts.unsure, "unsure row", "unsure rows");
  add(facts.others, "row of no fixation", "rows of no fixation");
  const auto plural = [](std::int64_t count) { return count == 1 ? "" : "s"; };
  std::string text = fmt::format("{} row{} of {} ({}): {} {}{} used", facts.rows, plural(facts.rows), facts.format,
                                 facts.units, facts.used, facts.samples ? "sample" : "fixation", plural(facts.used));
  if (!skipped.empty()) text += fmt::format("; skipped: {}", skipped);
  return text;
}

}  // namespace saccade
