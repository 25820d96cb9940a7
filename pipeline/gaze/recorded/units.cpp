#include "pipeline/gaze/recorded/units.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string_view>
#include <vector>

#include "pipeline/error.h"

namespace saccade {
namespace {

struct TimeWord {
  TimeUnit unit;
  const char* word;
  double seconds;
};
constexpr TimeWord kTimes[] = {{TimeUnit::kSeconds, "s", 1},
                               {TimeUnit::kMilliseconds, "ms", 1e-3},
                               {TimeUnit::kMicroseconds, "us", 1e-6},
                               {TimeUnit::kNanoseconds, "ns", 1e-9}};

// The number that `text` begins with, cut off; one separator before it is skipped.
std::optional<double> cut_number(std::string_view& text, std::string_view separator) {
  if (!text.starts_with(separator)) return std::nullopt;
  text.remove_prefix(separator.size());
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || !(value > -1e9 && value < 1e9)) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

// "WxH" or "WxH+X+Y", as X11 writes geometries.
std::optional<ScreenBox> parse_box(std::string_view text) {
  ScreenBox box;
  const auto width = cut_number(text, "");
  const auto height = cut_number(text, "x");
  if (!width || !height || !(*width > 0) || !(*height > 0)) return std::nullopt;
  box.width_px = *width;
  box.height_px = *height;
  if (text.empty()) return box;
  const auto left = cut_number(text, "+");
  const auto top = cut_number(text, "+");
  if (!left || !top || !text.empty()) return std::nullopt;
  box.left_px = *left;
  box.top_px = *top;
  return box;
}

bool take_space(std::string_view word, GazeUnits& units) {
  if (word == "norm") {
    units.space = GazeSpace::kNorm;
  } else if (word == "norm-up") {
    units.space = GazeSpace::kNormUp;
  } else if (word == "percent") {
    units.space = GazeSpace::kPx;
    units.screen = kPercent;
  } else if (word == "px") {
    units.space = GazeSpace::kPx;
  } else if (const auto box = word.starts_with("px:") ? parse_box(word.substr(3)) : std::nullopt) {
    units.space = GazeSpace::kPx;
    units.screen = *box;
  } else {
    return false;
  }
  return true;
}

bool take_time(std::string_view word, GazeUnits& units) {
  for (const TimeWord& time : kTimes) {
    if (word != time.word) continue;
    units.time = time.unit;
    return true;
  }
  return false;
}

}  // namespace

double seconds(TimeUnit unit) {
  for (const TimeWord& time : kTimes) {
    if (time.unit == unit) return time.seconds;
  }
  return 1;
}

GazeUnits parse_gaze_units(const std::string& text) {
  GazeUnits units;
  if (text == "auto") return units;
  std::string_view rest = text;
  bool space_given = false, time_given = false;
  for (;;) {
    const std::size_t comma = rest.find(',');
    const std::string_view word = rest.substr(0, comma);
    if (!space_given && take_space(word, units)) {
      space_given = true;
    } else if (!time_given && take_time(word, units)) {
      time_given = true;
    } else {
      throw UsageError(fmt::format(
          "'{}' is not auto, norm, norm-up, percent, px, px:WxH or px:WxH+X+Y, or one of these and a time's "
          "unit, s, ms, us or ns: px:1920x1080,ms",
          text));
    }
    if (comma == rest.npos) return units;
    rest.remove_prefix(comma + 1);
  }
}

std::string print_gaze_units(const GazeUnits& units) {
  std::string text;
  const ScreenBox& box = units.screen;
  if (units.space == GazeSpace::kNorm) text = "norm";
  if (units.space == GazeSpace::kNormUp) text = "norm-up";
  if (units.space == GazeSpace::kPx) text = box == kPercent ? "percent" : "px";
  if (text == "px" && box.width_px > 0) text += fmt::format(":{}x{}", box.width_px, box.height_px);
  if (box.left_px != 0 || box.top_px != 0) text += fmt::format("+{}+{}", box.left_px, box.top_px);
  for (const TimeWord& time : kTimes) {
    if (time.unit == units.time) text += fmt::format("{}{}", text.empty() ? "" : ",", time.word);
  }
  return text.empty() ? "auto" : text;
}

}  // namespace saccade
