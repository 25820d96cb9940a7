// Tables of gaze: CSV, TSV and their like.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "pipeline/error.h"
#include "pipeline/gaze/recorded/columns.h"
#include "pipeline/gaze/recorded/raw_recording.h"
#include "pipeline/gaze/recorded/text.h"
#include "pipeline/lower_case.h"

namespace saccade {
namespace {

constexpr double kLeastConfidence = 0.6;  // as Pupil's own programs take it
constexpr int kHeaderWithin = 100;        // rows
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

constexpr const char* kExpected = "expected t_s,u,v with t_s rising and u, v from 0 to 1";

bool is_comment(std::string_view line) { return line.front() == '#' || line.starts_with("//"); }

struct Head {
  GazeColumns columns;
  char separator = ',';
  int last_line = 0;  // rows begin after it
};

// The first line whose words name columns. None: t_s,u,v without a header.
class HeadFinder {
 public:
  HeadFinder(const std::string& path, const std::string& text, bool raw) : path_(path), text_(text), raw_(raw) {}

  Head find() {
    Lines lines(text_);
    TextLine line;
    int looked_at = 0;
    while (looked_at < kHeaderWithin && lines.next(line)) {
      if (line.text.starts_with("sep=") && line.text.size() == 5) continue;  // for spreadsheets
      const bool comment = is_comment(line.text);
      std::string_view words = line.text;
      if (comment) words.remove_prefix(std::min(words.find_first_not_of("#/ "), words.size()));
      const char separator = separator_of(words);
      split_fields(words, separator, fields_);
      auto columns = has_number() ? std::nullopt : find_columns(fields_, raw_);
      if (columns && !comment) return {*columns, separator, line.number};
      if (columns && suits(lines, *columns)) return {*columns, separator_after(lines), line.number};
      if (comment) continue;
      if (looked_at++ == 0) first_ = {plain_columns(), separator, has_number() ? line.number - 1 : line.number};
      if (looked_at != 1) continue;
      first_fields_ = fields_.size();
      first_is_words_ = first_fields_ == 3 && !has_number();
      first_line_ = line;
    }
    if (looked_at > 0 && (first_fields_ > 3 || first_is_words_)) refuse();
    return first_;
  }

 private:
  bool has_number() const {
    const std::size_t count = std::min<std::size_t>(fields_.size(), 3);
    return std::any_of(fields_.begin(), fields_.begin() + static_cast<std::ptrdiff_t>(count),
                       [](auto field) { return parse_decimal(field).has_value(); });
  }
  // A comment is a header when the next row has as many fields: NumPy writes such.
  static bool suits(Lines lines, const GazeColumns& columns) {
    TextLine line;
    std::vector<std::string_view> fields;
    while (lines.next(line)) {
      if (is_comment(line.text)) continue;
      split_fields(line.text, separator_of(line.text), fields);
      return fields.size() == columns.names.size();
    }
    return false;
  }
  static char separator_after(Lines lines) {
    TextLine line;
    while (lines.next(line) && is_comment(line.text)) continue;
    return separator_of(line.text);
  }
  [[noreturn]] void refuse() const {
    throw InputError(
        fmt::format("{}: line {}: {}; name the columns t, x, y: \"{}\"", path_, first_line_.number,
                    first_is_words_ ? "a header that does not name a time, an x and a y"
                                    : fmt::format("{} fields instead of t_s,u,v, and no header that names a time, an x "
                                                  "and a y",
                                                  first_fields_),
                    shown(first_line_.text)));
  }

  const std::string& path_;
  const std::string& text_;
  bool raw_;
  std::vector<std::string_view> fields_;
  Head first_ = {plain_columns(), ',', 0};  // of an empty file, too
  TextLine first_line_;
  std::size_t first_fields_ = 0;
  bool first_is_words_ = false;  // three of them, and they name no time, x and y
};

class TableReader {
 public:
  TableReader(const std::string& path, const Head& head, const RecordingConfig& config)
      : path_(path),
        columns_(head.columns),
        separator_(head.separator),
        comma_(head.separator != ','),
        raw_(config.raw) {
    const int wanted[] = {columns_.time, columns_.x.back(), columns_.y.back(), columns_.x[0], columns_.y[0]};
    needed_ = static_cast<std::size_t>(*std::max_element(std::begin(wanted), std::end(wanted))) + 1;
  }

  void row(const TextLine& line) {
    number_ = line.number;
    char separator = separator_;
    if (columns_.plain) separator = separator_of(line.text);
    split_fields(line.text, separator, fields_);
    if (columns_.plain && fields_.size() != 3) fail(fmt::format("{} fields instead of t_s,u,v", fields_.size()));
    if (fields_.size() < needed_) {
      fail(fmt::format("{} fields; column \"{}\" is the {}th", fields_.size(), columns_.names[needed_ - 1], needed_));
    }
    RawLook look;
    look.line = line.number;
    look.time = number(columns_.time);
    place(look);
    look.kind = kind(look);
    if (columns_.screen_width != GazeColumns::kNone && screen_.width_px == 0) take_screen();
    out_.looks.push_back(look);
  }

  RawRecording finish() {
    out_.format = columns_.format;
    out_.space = columns_.space;
    out_.screen = columns_.percent ? kPercent : screen_;
    out_.time_unit = columns_.time_unit;
    out_.own_clock = columns_.own_clock;
    out_.strict = columns_.plain;
    out_.samples = !columns_.fixations;
    if (!raw_ && any_fixation_) {
      out_.samples = false;
      for (RawLook& look : out_.looks) {
        if (look.kind == LookKind::kSeen && look.fixation < 0) look.kind = LookKind::kOther;
      }
    } else {
      for (RawLook& look : out_.looks) look.fixation = -1;
    }
    return std::move(out_);
  }

 private:
  [[noreturn]] void fail(const std::string& reason) const {
    throw InputError(columns_.plain ? fmt::format("{}: line {}: {}; {}", path_, number_, reason, kExpected)
                                    : fmt::format("{}: line {}: {}", path_, number_, reason));
  }
  std::string_view field(int column) const {
    const auto i = static_cast<std::size_t>(column);
    return column >= 0 && i < fields_.size() ? fields_[i] : std::string_view{};
  }
  double number(int column) const {
    if (const auto value = parse_decimal(field(column), comma_)) return *value;
    const std::string text = shown(field(column));
    if (columns_.plain) fail(fmt::format("\"{}\" is no number", text));
    fail(fmt::format("column \"{}\": \"{}\" is no number", columns_.names[static_cast<std::size_t>(column)], text));
  }
  double coordinate(int column) const { return is_missing(field(column)) ? kNan : number(column); }

  void place(RawLook& look) const {
    MeanOfEyes mean;
    for (std::size_t eye = 0; eye < columns_.x.size(); ++eye) {
      const double x = coordinate(columns_.x[eye]), y = coordinate(columns_.y[eye]);
      mean.add(x, y);
    }
    look.x = mean.x();
    look.y = mean.y();
    if (columns_.plain) {  // an error names the value that it was
      look.x = coordinate(columns_.x[0]);
      look.y = coordinate(columns_.y[0]);
    }
  }

  bool is_off(int column) const {
    const std::string text = lower_case(field(column));
    const auto value = parse_decimal(text, comma_);
    return text == "false" || text == "invalid" || (value && *value == 0);
  }

  LookKind kind(RawLook& look) {
    const std::string event = lower_case(field(columns_.event));
    const bool blink = !is_missing(field(columns_.blink)) || event.find("blink") != event.npos;
    if (blink || !std::isfinite(look.x) || !std::isfinite(look.y) || is_off(columns_.valid)) return LookKind::kMissing;
    if (is_off(columns_.on_surface)) return LookKind::kOffScreen;
    const auto confidence = parse_decimal(field(columns_.confidence), comma_);
    if (confidence && !(*confidence >= kLeastConfidence)) return LookKind::kUnsure;
    number_fixation(look, event);
    return LookKind::kSeen;
  }

  // Rows of one fixation get one number, as the file's event and index say.
  void number_fixation(RawLook& look, const std::string& event) {
    const bool has_event = columns_.event != GazeColumns::kNone, has_id = columns_.fixation_id != GazeColumns::kNone;
    if (!has_event && !has_id) return;
    const std::string id(field(columns_.fixation_id));
    const bool fixation = has_event ? event.find("fixation") != event.npos : !is_missing(id) && id != "-1";
    if (!fixation) {
      open_ = false;
      return;
    }
    if (!open_ || id != last_id_) ++fixations_;
    open_ = any_fixation_ = true;
    last_id_ = id;
    look.fixation = fixations_;
  }

  void take_screen() {
    const auto width = parse_decimal(field(columns_.screen_width), comma_);
    const auto height = parse_decimal(field(columns_.screen_height), comma_);
    if (width && height && *width > 0 && *height > 0) screen_ = {0, 0, *width, *height};
  }

  const std::string& path_;
  const GazeColumns& columns_;
  char separator_;
  bool comma_;
  bool raw_;
  std::size_t needed_ = 3;
  int number_ = 0;
  std::vector<std::string_view> fields_;
  RawRecording out_;
  ScreenBox screen_;
  bool any_fixation_ = false, open_ = false;
  std::int64_t fixations_ = -1;
  std::string last_id_;
};

}  // namespace

RawRecording read_table(const std::string& path, const std::string& text, const RecordingConfig& config) {
  const Head head = HeadFinder(path, text, config.raw).find();
  TableReader reader(path, head, config);
  Lines lines(text);
  TextLine line;
  while (lines.next(line)) {
    if (line.number > head.last_line && !is_comment(line.text)) reader.row(line);
  }
  return reader.finish();
}

}  // namespace saccade
