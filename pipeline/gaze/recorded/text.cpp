#include "pipeline/gaze/recorded/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "pipeline/error.h"
#include "pipeline/lower_case.h"

namespace saccade {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 30;

void append_utf8(std::string& out, std::uint32_t code) {
  const auto tail = [&](int shift) { out += static_cast<char>(0x80U | ((code >> shift) & 0x3FU)); };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0U | (code >> 6));
    tail(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0U | (code >> 12));
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xF0U | (code >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

// Eye trackers for Windows write UTF-16.
std::string from_utf16(std::string_view bytes, bool big_endian) {
  std::string out;
  out.reserve(bytes.size() / 2);
  const auto unit = [&](std::size_t i) {
    const auto a = static_cast<std::uint8_t>(bytes[i]), b = static_cast<std::uint8_t>(bytes[i + 1]);
    return static_cast<std::uint32_t>(big_endian ? a << 8 | b : b << 8 | a);
  };
  for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) {
    std::uint32_t code = unit(i);
    if (code >= 0xD800 && code < 0xDC00 && i + 3 < bytes.size()) {
      code = 0x10000 + ((code - 0xD800) << 10) + ((unit(i + 2) - 0xDC00) & 0x3FFU);
      i += 2;
    }
    append_utf8(out, code);
  }
  return out;
}

std::string as_utf8(std::string bytes) {
  const std::string_view view = bytes;
  if (view.starts_with("\xEF\xBB\xBF")) return bytes.substr(3);
  if (view.starts_with("\xFF\xFE")) return from_utf16(view.substr(2), false);
  if (view.starts_with("\xFE\xFF")) return from_utf16(view.substr(2), true);
  if (view.size() > 3 && view[1] == 0 && view[3] == 0 && view[0] != 0) return from_utf16(view, false);
  return bytes;
}

[[noreturn]] void refuse_unread(const std::string& path, int error) {
  throw InputError(fmt::format("{}: cannot read the scanpath: {}", path, std::strerror(error)), Hint::kNone, error);
}

}  // namespace

std::string read_text(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw InputError(fmt::format("{}: is a directory; recorded fixations are a CSV file of t_s,u,v lines", path));
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse_unread(path, errno);
  std::string bytes;
  std::array<char, 1 << 16> block;
  while (file.read(block.data(), block.size()) || file.gcount() > 0) {
    bytes.append(block.data(), static_cast<std::size_t>(file.gcount()));
    if (bytes.size() > kMostBytes) {
      throw InputError(fmt::format("{}: more than {} MiB are no list of fixations", path, kMostBytes >> 20));
    }
  }
  if (file.bad()) refuse_unread(path, errno);
  return as_utf8(std::move(bytes));
}

bool Lines::next(TextLine& line) {
  while (!rest_.empty()) {
    ++number_;
    const std::size_t end = rest_.find_first_of("\r\n");
    std::string_view text = rest_.substr(0, end);
    const bool pair = end != rest_.npos && rest_.substr(end).starts_with("\r\n");
    rest_.remove_prefix(end == rest_.npos ? rest_.size() : end + (pair ? 2 : 1));
    if (trimmed(text).empty()) continue;
    while (text.front() == ' ') text.remove_prefix(1);
    while (text.back() == ' ') text.remove_suffix(1);
    line = {number_, text};
    return true;
  }
  return false;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

char separator_of(std::string_view line) {
  std::vector<std::string_view> fields;
  for (const char separator : {'\t', ';', ',', ' '}) {
    split_fields(line, separator, fields);
    const bool cut_badly = std::any_of(fields.begin(), fields.end(), [](auto field) { return field.ends_with(','); });
    if (fields.size() >= 3 && !cut_badly) return separator;
  }
  return line.find(',') != line.npos ? ',' : line.find('\t') != line.npos ? '\t' : ',';
}

void split_fields(std::string_view line, char separator, std::vector<std::string_view>& out) {
  out.clear();
  if (separator == ' ') {
    for (line = trimmed(line); !line.empty(); line = trimmed(line)) {
      const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
      out.push_back(line.substr(0, end));
      line.remove_prefix(end);
    }
    return;
  }
  for (;;) {
    const std::string_view start = line.substr(std::min(line.find_first_not_of(" "), line.size()));
    const std::size_t quote_end = start.starts_with('"') ? start.find('"', 1) : start.npos;
    const std::size_t from =
        quote_end == start.npos ? 0 : static_cast<std::size_t>(start.data() - line.data()) + quote_end;
    const std::size_t end = line.find(separator, from);
    std::string_view field = trimmed(line.substr(0, end));
    if (field.size() >= 2 && field.front() == '"' && field.back() == '"') {
      field = trimmed(field.substr(1, field.size() - 2));
    }
    out.push_back(field);
    if (end == line.npos) return;
    line.remove_prefix(end + 1);
  }
}

std::optional<double> parse_decimal(std::string_view text, bool comma) {
  std::string with_point;
  if (comma && text.find(',') != text.npos) {
    with_point = text;
    std::replace(with_point.begin(), with_point.end(), ',', '.');
    text = with_point;
  }
  if (text.size() > 1 && text.front() == '+' && text[1] != '-') text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_missing(std::string_view text) {
  if (text.empty()) return true;
  static constexpr std::string_view kWords[] = {"nan", "-nan", "na",   "n/a",     "null", "none", ".",
                                                "-",   "--",   "#n/a", "missing", "inf",  "-inf", "<na>"};
  const std::string word = lower_case(text);
  return std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords);
}

std::string shown(std::string_view text) {
  std::string out(text.substr(0, 40));
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
  }
  return text.size() > 40 ? out + "..." : out;
}

}  // namespace saccade
