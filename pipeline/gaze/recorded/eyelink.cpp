// EyeLink's ASC, as SR Research's EDF2ASC writes it (EyeLink 1000 Plus user manual, 4.8 "The ASC file format").
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "pipeline/error.h"
#include "pipeline/gaze/recorded/raw_recording.h"
#include "pipeline/gaze/recorded/text.h"

namespace saccade {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

class AscReader {
 public:
  AscReader(const std::string& path, const RecordingConfig& config) : path_(path), config_(config) {}

  void take(const TextLine& line) {
    number_ = line.number;
    split_fields(line.text, ' ', fields_);
    const std::string_view word = fields_[0];
    if (word.front() >= '0' && word.front() <= '9') return take_sample();
    if (word == "MSG") return take_message();
    if (word == "SAMPLES") return take_layout();
    if (word == "EFIX") return take_fixation();
    if (word == "EBLINK") {
      events_.push_back({number(2), kNan, kNan, number_, LookKind::kMissing, eye()});
    }
  }

  RawRecording finish() {
    RawRecording out;
    out.format = "EyeLink";
    out.space = GazeSpace::kPx;
    out.screen = screen_;
    out.time_unit = TimeUnit::kMilliseconds;
    out.own_clock = true;
    out.zero = zero_;
    std::size_t fixations = 0;
    for (const std::size_t count : fixations_) fixations += count;
    out.samples = fixations == 0 || (config_.raw && !samples_.empty());
    if (out.samples) {
      out.looks = std::move(samples_);
      return out;
    }
    // Of two eyes, the one with more fixations; both see the same.
    const std::int64_t eye = fixations_[0] > fixations_[1] ? 0 : 1;
    for (RawLook look : events_) {
      if (look.fixation != eye) continue;
      look.fixation = -1;
      out.looks.push_back(look);
    }
    std::stable_sort(out.looks.begin(), out.looks.end(), [](auto& a, auto& b) { return a.time < b.time; });
    if (!out.zero && !samples_.empty()) out.zero = samples_.front().time;
    return out;
  }

 private:
  [[noreturn]] void fail(const std::string& reason) const {
    throw InputError(fmt::format("{}: line {}: {}", path_, number_, reason));
  }
  double number(std::size_t i) const {
    if (i >= fields_.size()) fail(fmt::format("{} has {} fields, cut short", shown(fields_[0]), fields_.size()));
    if (fields_[i] == ".") return kNan;
    const auto value = parse_decimal(fields_[i]);
    if (!value) fail(fmt::format("field {}: \"{}\" is no number", i + 1, shown(fields_[i])));
    return *value;
  }

  // "t x y pupil ...", or of both eyes "t xl yl pl xr yr pr ...".
  void take_sample() {
    const double time = number(0);
    MeanOfEyes mean;
    for (std::size_t eye = 0; eye < (both_eyes_ ? 2U : 1U); ++eye) {
      const double x = number(1 + 3 * eye), y = number(2 + 3 * eye);
      mean.add(x, y);
    }
    samples_.push_back({time, mean.x(), mean.y(), number_, mean.sees() ? LookKind::kSeen : LookKind::kMissing});
  }

  // "SAMPLES GAZE LEFT RIGHT RATE 500.00 ..."
  void take_layout() {
    bool left = false, right = false, gaze = false;
    for (const std::string_view word : fields_) {
      left = left || word == "LEFT";
      right = right || word == "RIGHT";
      gaze = gaze || word == "GAZE";
    }
    if (!gaze) fail("samples are no gaze but HREF or PUPIL; convert the EDF file again, with gaze positions");
    both_eyes_ = left && right;
  }

  // "MSG 1000 DISPLAY_COORDS 0 0 1919 1079", or with "=" and commas: both corners are pixels of the screen. "MSG 2000
  // SYNCTIME": the picture was shown.
  void take_message() {
    for (std::size_t i = 2; i < fields_.size() && i < 4; ++i) {
      if (fields_[i] == "DISPLAY_COORDS" || fields_[i] == "GAZE_COORDS") {
        take_corners(i + 1);
      }
      if (fields_[i] == "SYNCTIME" && !zero_) zero_ = number(1) - (i == 3 ? number(2) : 0);  // "MSG 2000 -12 SYNCTIME"
    }
  }

  // left top right bottom, from this field on. A message of another form says nothing.
  void take_corners(std::size_t first) {
    std::array<double, 4> corners{};
    std::size_t found = 0;
    for (std::size_t i = first; i < fields_.size() && found < corners.size(); ++i) {
      std::string_view text = fields_[i];
      while (text.ends_with(',')) text.remove_suffix(1);
      if (text.starts_with('=')) text.remove_prefix(1);
      if (text.empty()) continue;
      const auto value = parse_decimal(text);
      if (!value) return;
      corners[found++] = *value;
    }
    const auto [left, top, right, bottom] = corners;
    if (found == 4 && right > left && bottom > top) screen_ = {left, top, right - left + 1, bottom - top + 1};
  }

  std::int64_t eye() const { return fields_[1] == "L" ? 0 : 1; }

  // "EFIX L start end duration x y pupil"
  void take_fixation() {
    RawLook look{number(2), number(5), number(6), number_};
    if (!std::isfinite(look.x) || !std::isfinite(look.y)) look.kind = LookKind::kMissing;
    look.fixation = eye();
    ++fixations_[static_cast<std::size_t>(look.fixation)];
    events_.push_back(look);
  }

  const std::string& path_;
  const RecordingConfig& config_;
  int number_ = 0;
  std::vector<std::string_view> fields_;
  std::vector<RawLook> samples_, events_;
  std::array<std::size_t, 2> fixations_{};
  ScreenBox screen_;
  bool both_eyes_ = false;
  std::optional<double> zero_;
};

}  // namespace

bool is_eyelink(const std::string& text) {
  Lines lines(text);
  TextLine line;
  for (int looked_at = 0; looked_at < 30 && lines.next(line); ++looked_at) {
    for (const std::string_view word : {"** ", "MSG\t", "MSG ", "SFIX ", "EFIX ", "SAMPLES\t", "SAMPLES "}) {
      if (line.text.starts_with(word)) return true;
    }
  }
  return false;
}

RawRecording read_eyelink(const std::string& path, const std::string& text, const RecordingConfig& config) {
  AscReader reader(path, config);
  Lines lines(text);
  TextLine line;
  while (lines.next(line)) {
    if (!trimmed(line.text).empty()) reader.take(line);
  }
  return reader.finish();
}

}  // namespace saccade
