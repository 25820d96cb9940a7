#include "pipeline/gaze/recorded/columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "pipeline/gaze/recorded/text.h"
#include "pipeline/lower_case.h"

namespace saccade {
namespace {

constexpr int kNone = GazeColumns::kNone;

// "Gaze point X [DACS px]": words "gaze point x", unit "dacs px". "start_timestamp_ms": "start timestamp", "ms".
struct ColumnName {
  std::string words;
  std::string unit;
};

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '%';
}

// Lower-case words, split where letters end and where a capital follows a small letter.
std::string words_of(std::string_view name) {
  std::string words;
  bool was_small = false;
  for (const char c : name) {
    if (!is_letter_or_digit(c)) {
      if (!words.empty() && words.back() != ' ') words += ' ';
      was_small = false;
      continue;
    }
    const bool capital = c >= 'A' && c <= 'Z';
    if (capital && was_small) words += ' ';
    was_small = c >= 'a' && c <= 'z';
    words += lower_case(std::string_view(&c, 1));
  }
  if (!words.empty() && words.back() == ' ') words.pop_back();
  return words;
}

TimeUnit time_unit(std::string_view unit) {
  if (unit == "s" || unit.starts_with("sec")) return TimeUnit::kSeconds;
  if (unit == "ms" || unit.starts_with("msec") || unit.starts_with("milli")) return TimeUnit::kMilliseconds;
  if (unit == "us" || unit == "\xC2\xB5s" || unit == "\xCE\xBCs" || unit == "\xB5s" || unit.starts_with("usec") ||
      unit.starts_with("micro")) {
    return TimeUnit::kMicroseconds;
  }
  if (unit == "ns" || unit.starts_with("nano")) return TimeUnit::kNanoseconds;
  return TimeUnit::kAuto;
}

ColumnName column_name(std::string_view name) {
  ColumnName column;
  const std::size_t open = name.find_first_of("[(");
  if (open != name.npos) {
    const std::size_t close = std::min(name.find_first_of("])", open), name.size());
    column.unit = lower_case(name.substr(open + 1, close - open - 1));
    std::string rest(name.substr(0, open));
    if (close < name.size()) rest += name.substr(close + 1);
    column.words = words_of(rest);
    return column;
  }
  column.words = words_of(name);
  static constexpr std::string_view kUnits[] = {
      "s",    "sec",          "secs", "seconds",     "ms", "msec",    "milliseconds", "us",
      "usec", "microseconds", "ns",   "nanoseconds", "px", "pix",     "pixel",        "pixels",
      "norm", "mm",           "deg",  "degrees",     "%",  "percent", "pct"};
  const std::size_t space = column.words.rfind(' ');
  if (space == std::string::npos) {
    if (column.words.size() < 2 || time_unit(column.words) == TimeUnit::kAuto) return column;
    return {"t", column.words};  // "ms", "seconds"
  }
  const std::string last = column.words.substr(space + 1);
  if (std::find(std::begin(kUnits), std::end(kUnits), last) == std::end(kUnits)) return column;
  column.unit = last;
  column.words.resize(space);
  return column;
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

bool is_percent(std::string_view unit) { return has(unit, "%") || has(unit, "percent") || unit == "pct"; }

// How well a place's unit suits, 0 best: of the video itself, of 0..1, of a screen's pixels.
// nullopt: it is no place on a picture.
std::optional<int> unit_rank(std::string_view unit) {
  const bool px = has(unit, "px") || has(unit, "pix"), norm = has(unit, "norm");
  if (!px && !norm && !is_percent(unit)) return unit.empty() ? std::optional(3) : std::nullopt;
  return (has(unit, "mcs") ? 0 : 2) + (norm ? 0 : 1);
}

constexpr std::string_view kTimeNames[] = {"t",
                                           "gaze timestamp",
                                           "start timestamp",
                                           "recording timestamp",
                                           "recording time stamp",
                                           "fixation start timestamp",
                                           "fixation start time",
                                           "fixation start",
                                           "current fix start",
                                           "fpogs",
                                           "start time",
                                           "time start",
                                           "timestamp",
                                           "time stamp",
                                           "time",
                                           "tracker timestamp",
                                           "device timestamp",
                                           "device time stamp",
                                           "system timestamp",
                                           "system time stamp",
                                           "world timestamp",
                                           "start",
                                           "onset",
                                           "t start",
                                           "begin"};

// What comes before "x" in the name of a place; a fixation's first, then gaze's.
constexpr std::string_view kPlaceStems[] = {"fixation point ",
                                            "fixation ",
                                            "current fix ",
                                            "fix ",
                                            "fpog",
                                            "norm pos ",
                                            "gaze point ",
                                            "gaze ",
                                            "gaze",
                                            "gaze pos ",
                                            "gaze position ",
                                            "bpog",
                                            "average gaze ",
                                            "avg gaze ",
                                            "mean gaze ",
                                            "point of regard ",
                                            "por ",
                                            "pos ",
                                            "position ",
                                            "mean ",
                                            "average ",
                                            "avg ",
                                            "avg",
                                            "screen ",
                                            "norm ",
                                            "display ",
                                            ""};
constexpr std::array<std::string_view, 2> kEyeStems[] = {{"gaze point left ", "gaze point right "},
                                                         {"left gaze ", "right gaze "},
                                                         {"gaze left ", "gaze right "},
                                                         {"l por ", "r por "},
                                                         {"left gaze point ", "right gaze point "},
                                                         {"left ", "right "},
                                                         {"l ", "r "},
                                                         {"left eye ", "right eye "},
                                                         {"left eye gaze ", "right eye gaze "}};

class Finder {
 public:
  explicit Finder(std::span<const std::string_view> header) {
    for (const std::string_view name : header) names_.push_back(column_name(name));
  }
  const ColumnName& operator[](int column) const { return names_[static_cast<std::size_t>(column)]; }

  int of_words(std::string_view words) const {
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (names_[i].words == words) return static_cast<int>(i);
    }
    return kNone;
  }
  int first_of(std::span<const std::string_view> wanted) const {
    for (const std::string_view words : wanted) {
      if (const int column = of_words(words); column != kNone) return column;
    }
    return kNone;
  }
  // The column of these words whose unit suits best, and its partner's of the same unit.
  bool place(const std::string& x_words, const std::string& y_words, int& x, int& y) const {
    std::optional<int> best;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const auto rank = unit_rank(names_[i].unit);
      if (names_[i].words != x_words || !rank || (best && *rank >= *best)) continue;
      for (std::size_t j = 0; j < names_.size(); ++j) {
        if (names_[j].words != y_words || names_[j].unit != names_[i].unit) continue;
        best = rank;
        x = static_cast<int>(i);
        y = static_cast<int>(j);
        break;
      }
    }
    return best.has_value();
  }
  bool stem(std::string_view stem, int& x, int& y) const {
    return place(fmt::format("{}x", stem), fmt::format("{}y", stem), x, y);
  }

 private:
  std::vector<ColumnName> names_;
};

bool is_of_fixations(std::string_view stem) { return stem.starts_with("fix") || stem == "fpog"; }

bool find_places(const Finder& names, bool raw, GazeColumns& columns, std::string_view& stem) {
  int x = kNone, y = kNone;
  stem = "u";
  bool found =
      names.place("u", "v", x, y) || names.place("fix u", "fix v", x, y) || names.place("gaze u", "gaze v", x, y);
  for (const bool later : {false, true}) {
    for (const std::string_view candidate : kPlaceStems) {
      if (found || (raw && is_of_fixations(candidate)) != later) continue;
      stem = candidate;
      found = names.stem(candidate, x, y);
    }
  }
  if (found) {
    columns.x = {x};
    columns.y = {y};
    return true;
  }
  for (const auto& eyes : kEyeStems) {
    for (const std::string_view eye : eyes) {
      if (!names.stem(eye, x, y)) continue;
      columns.x.push_back(x);
      columns.y.push_back(y);
      stem = eye;
    }
    if (!columns.x.empty()) return true;
  }
  return false;
}

GazeSpace space_of(const ColumnName& x, std::string_view stem, bool surface) {
  if (stem == "norm pos " || (surface && x.unit == "norm")) return GazeSpace::kNormUp;
  if (has(x.unit, "px") || has(x.unit, "pix") || is_percent(x.unit)) return GazeSpace::kPx;
  if (has(x.unit, "norm") || stem == "u" || stem == "fpog" || stem == "bpog" || stem == "norm ")
    return GazeSpace::kNorm;
  const bool tracker =
      stem == "gaze point " || stem == "fixation point " || stem == "current fix " || has(stem, "por ");
  return tracker ? GazeSpace::kPx : GazeSpace::kAuto;
}

void name_format(const Finder& names, GazeColumns& columns, std::string_view stem,
                 std::span<const std::string_view> header) {
  const std::string& time = names[columns.time].words;
  if (stem == "norm pos " || columns.on_surface != kNone) {
    columns.format = "Pupil";
  } else if (has(time, "recording time")) {
    columns.format = "Tobii";
  } else {
    const auto name = [&](int column) { return shown(header[static_cast<std::size_t>(column)]); };
    columns.format = fmt::format("columns {}, {}, {}", name(columns.time), name(columns.x[0]), name(columns.y[0]));
    return;
  }
  columns.own_clock = true;
}

}  // namespace

GazeColumns plain_columns() {
  GazeColumns columns;
  columns.time = 0;
  columns.time_unit = TimeUnit::kSeconds;
  columns.x = {1};
  columns.y = {2};
  columns.space = GazeSpace::kNorm;
  columns.fixations = columns.plain = true;
  columns.format = "t_s,u,v";
  columns.names = {"t_s", "u", "v"};
  return columns;
}

std::optional<GazeColumns> find_columns(std::span<const std::string_view> header, bool raw) {
  if (header.size() == 3 && header[0] == "t_s" && header[1] == "u" && header[2] == "v") return plain_columns();
  const Finder names(header);
  GazeColumns columns;
  std::string_view stem;
  columns.time = names.first_of(kTimeNames);
  if (columns.time == kNone || !find_places(names, raw, columns, stem)) return std::nullopt;
  const std::string_view on_surface[] = {"on surf", "on surface", "gaze detected on surface"};
  columns.on_surface = names.first_of(on_surface);
  columns.space = space_of(names[columns.x[0]], stem, columns.on_surface != kNone);
  columns.percent = is_percent(names[columns.x[0]].unit);
  columns.time_unit = time_unit(names[columns.time].unit);
  if (stem == "fpog" || stem == "bpog") columns.time_unit = TimeUnit::kSeconds;
  if (stem == "current fix ") columns.time_unit = TimeUnit::kMilliseconds;
  const std::string_view durations[] = {"duration", "fixation duration", "current fix duration", "dur"};
  columns.fixations = names.first_of(durations) != kNone || stem == "current fix ";
  const std::string_view valid[] = {"fpogv", "bpogv", "valid", "validity", "worn"};
  columns.valid = names.first_of(valid);
  if (columns.valid != kNone && names[columns.valid].words == "validity") columns.valid = kNone;  // 0 is best for some
  columns.confidence = names.of_words("confidence");
  columns.blink = names.of_words("blink id");
  const std::string_view events[] = {"eye movement type", "gaze event type", "event type", "eye movement",
                                     "eye event",         "movement type",   "category"};
  columns.event = names.first_of(events);
  const std::string_view ids[] = {"eye movement type index", "fixation id", "fixation index", "gaze event index",
                                  "fpogid"};
  columns.fixation_id = names.first_of(ids);
  const std::string_view widths[] = {"recording resolution width", "screen width", "display width"};
  const std::string_view heights[] = {"recording resolution height", "screen height", "display height"};
  columns.screen_width = names.first_of(widths);
  columns.screen_height = names.first_of(heights);
  if (has(names[columns.x[0]].unit, "mcs"))
    columns.screen_width = columns.screen_height = kNone;  // of the video itself
  if (columns.percent) columns.screen_width = columns.screen_height = kNone;
  if (columns.screen_height == kNone) columns.screen_width = kNone;
  name_format(names, columns, stem, header);
  for (const std::string_view name : header) columns.names.emplace_back(name);
  return columns;
}

}  // namespace saccade
