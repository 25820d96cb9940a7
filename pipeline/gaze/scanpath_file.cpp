// Reads a recorded scanpath.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>

#include "pipeline/error.h"
#include "pipeline/gaze/scanpath_policy.h"

namespace saccade {
namespace {

constexpr double kMaxTimeS = 4.6e9;  // the difference of two fits in 64 bits of nanoseconds

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::optional<double> parse_double(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Commas or tabs separate; spaces around a field do not count.
struct Fields {
  std::array<std::string_view, 3> text;
  int count = 0;  // may exceed 3
};

Fields split(std::string_view line) {
  const char separator = line.find(',') != line.npos ? ',' : '\t';
  Fields fields;
  for (;;) {
    const std::size_t end = line.find(separator);
    if (fields.count < 3) fields.text[static_cast<std::size_t>(fields.count)] = trimmed(line.substr(0, end));
    ++fields.count;
    if (end == line.npos) return fields;
    line.remove_prefix(end + 1);
  }
}

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

std::string take_row(const Fields& fields, RecordedScanpath& out) {
  if (fields.count != 3) return fmt::format("{} fields instead of t_s,u,v", fields.count);
  std::array<double, 3> values{};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto value = parse_double(fields.text[i]);
    if (!value) return fmt::format("\"{}\" is no number", fields.text[i]);
    values[i] = *value;
  }
  return add_row(values[0], values[1], values[2], out);
}

// A first line of words is a header.
bool is_header(const Fields& fields) {
  for (int i = 0; i < std::min(fields.count, 3); ++i) {
    if (parse_double(fields.text[static_cast<std::size_t>(i)])) return false;
  }
  return true;
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
  return scanpath;
}

RecordedScanpath read_scanpath(const std::string& path) {
  if (path.empty()) throw UsageError("fixation file: a path is missing; write file:PATH");
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw InputError(fmt::format("{}: is a directory; recorded fixations are a CSV file of t_s,u,v lines", path));
  }
  errno = 0;
  std::ifstream file(path);
  if (!file) throw InputError(fmt::format("{}: cannot read the scanpath: {}", path, std::strerror(errno)));
  RecordedScanpath scanpath;
  std::string line;
  bool header_allowed = true;
  for (int number = 1; std::getline(file, line); ++number) {
    std::string_view text = line;
    if (number == 1 && text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // a byte order mark
    text = trimmed(text);
    if (text.empty() || text.front() == '#') continue;
    const Fields fields = split(text);
    const bool header = header_allowed && is_header(fields);
    header_allowed = false;
    if (header) continue;
    const std::string reason = take_row(fields, scanpath);
    if (!reason.empty()) {
      throw InputError(
          fmt::format("{}: line {}: {}; expected t_s,u,v with t_s rising and u, v from 0 to 1", path, number, reason));
    }
  }
  if (file.bad()) throw InputError(fmt::format("{}: cannot read the scanpath: {}", path, std::strerror(errno)));
  if (scanpath.points.empty()) {
    throw InputError(fmt::format("{}: holds no fixation; expected lines of t_s,u,v", path));
  }
  return scanpath;
}

}  // namespace saccade
