#include "app/work/plan/manifest.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "app/files/sha256.h"
#include "pipeline/error.h"

namespace saccade {
namespace {

constexpr std::string_view kMark = "\xEF\xBB\xBF";  // UTF-8's byte order mark
constexpr double kMost_s = 1e9;
constexpr std::uint64_t kMostRowBytes = std::uint64_t{64} << 20;

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

bool has_scheme(std::string_view uri) {
  const std::size_t colon = uri.find(':');
  if (colon == std::string_view::npos || colon < 2 || std::isalpha(static_cast<unsigned char>(uri[0])) == 0)
    return false;
  return std::all_of(uri.begin(), uri.begin() + static_cast<std::ptrdiff_t>(colon),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '+' || c == '-' || c == '.'; });
}

bool is_key(std::string_view text) {
  return !text.empty() && text.size() <= 80 && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_';
  });
}

bool is_utf8(std::string_view text) {
  if (std::all_of(text.begin(), text.end(), [](unsigned char c) { return c < 128; })) return true;
  try {
    Json(std::string(text)).dump();
    return true;
  } catch (const Json::exception&) {
    return false;
  }
}

std::optional<double> number_of(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (!value.is_string()) return std::nullopt;
  const std::string_view text = trimmed(value.get_ref<const std::string&>());
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

bool holds_nul(const Json& value) {
  if (value.is_string()) return value.get_ref<const std::string&>().find('\0') != std::string::npos;
  return value.is_structured() && std::any_of(value.begin(), value.end(), holds_nul);
}

bool is_unset(const Json& value) {
  return value.is_null() || (value.is_string() && trimmed(value.get_ref<const std::string&>()).empty());
}

}  // namespace

Manifest::Manifest(const std::string& path) : Manifest(path, path) {}

Manifest::Manifest(const std::string& path, const std::string& local) : path_(path) {
  if (path == "-") throw InputError(fmt::format("-: stdin can't be planned, which is read twice; {}", kListAdvice));
  const int fd = open(local.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat facts {};
  if (fd < 0 || fstat(fd, &facts) != 0) {
    const std::string reason = std::strerror(errno);
    if (fd >= 0) close(fd);
    throw InputError(fmt::format("{}: {}; give a .csv, a .jsonl or a list", path, reason));
  }
  if (!S_ISREG(facts.st_mode)) {
    close(fd);
    const char* what = S_ISDIR(facts.st_mode) ? "is a folder" : "is no regular file";
    throw InputError(fmt::format("{}: {}; a manifest is a .csv, a .jsonl or a list: {}", path, what, kListAdvice));
  }
  if (facts.st_size > 0) {
    mapped_ = mmap(nullptr, static_cast<std::size_t>(facts.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
    if (mapped_ == MAP_FAILED) mapped_ = nullptr;
    if (mapped_ != nullptr) text_ = {static_cast<const char*>(mapped_), static_cast<std::size_t>(facts.st_size)};
  }
  close(fd);
  if (facts.st_size > 0 && mapped_ == nullptr)
    throw InputError(fmt::format("{}: can't be mapped: {}", path, std::strerror(errno)));
  sha256_ = sha256_of(text_);
  folder_ = std::filesystem::current_path().string();
  if (text_.starts_with(kMark)) at_ = kMark.size();
  kind_ = manifest_kind(local, text_.substr(at_));
  if (kind_ == ManifestKind::kCsv) read_header();
}

void Manifest::read_header() {
  const std::string& path = path_;
  RowSpan header;
  if (!next(header)) throw InputError(fmt::format("{}: is empty; its first line names the columns", path));
  columns_ = csv_fields(header);
  for (std::string& column : columns_) column = trimmed(column);
  if (std::find(columns_.begin(), columns_.end(), "uri") == columns_.end()) {
    refuse(header, "no column is called 'uri'; the first line names the columns");
  }
  for (auto at = columns_.begin(); at != columns_.end(); ++at) {
    if (std::find(at + 1, columns_.end(), *at) != columns_.end()) {
      refuse(header, fmt::format("two columns are called '{}'; rename one", *at));
    }
  }
}

Manifest::~Manifest() {
  if (mapped_ != nullptr) munmap(mapped_, text_.size());
}

void Manifest::refuse(const RowSpan& span, const std::string& fault) const {
  throw InputError(fmt::format("{}:{}: {}", path_, span.line, fault));
}

// Of a CSV, a line break within quotes belongs to the record.
std::uint64_t Manifest::record_end(std::uint64_t at, std::uint32_t& lines) const {
  if (kind_ != ManifestKind::kCsv) {
    const std::size_t end = text_.find('\n', at);
    lines = 1;
    return end == std::string_view::npos ? text_.size() : end;
  }
  bool quoted = false;
  for (lines = 1; at < text_.size(); ++at) {
    if (text_[at] == '"') quoted = !quoted;
    if (text_[at] != '\n') continue;
    if (!quoted) return at;
    ++lines;
  }
  return text_.size();
}

bool Manifest::next(RowSpan& span) {
  while (at_ < text_.size()) {
    std::uint32_t lines = 1;
    const std::uint64_t begin = at_;
    const std::uint64_t end = record_end(begin, lines);
    span = {begin, 0, line_};
    if (end - begin > kMostRowBytes) refuse(span, "a row of more than 64 MiB; is a quotation mark open?");
    span.bytes = static_cast<std::uint32_t>(end - begin);
    at_ = end + 1;
    line_ += lines;
    const std::string_view text = trimmed(text_.substr(begin, end - begin));
    if (!text.empty() && !(kind_ == ManifestKind::kList && text[0] == '#')) return true;
  }
  return false;
}

Manifest::Fields Manifest::csv_fields(const RowSpan& span) const {
  std::string_view text = text_.substr(span.offset, span.bytes);
  if (text.ends_with('\r')) text.remove_suffix(1);
  Fields fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      fields.back() += text[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  if (quoted) refuse(span, "a quotation mark is not closed");
  return fields;
}

ManifestRow Manifest::csv_row(const RowSpan& span) const {
  Fields fields = csv_fields(span);
  if (fields.size() != columns_.size()) {
    refuse(span, fmt::format("has {} fields, the first line {}; put fields with commas in quotes", fields.size(),
                             columns_.size()));
  }
  ManifestRow row;
  for (std::size_t i = 0; i < fields.size(); ++i) take(row, columns_[i], Json(std::move(fields[i])), span);
  return row;
}

ManifestRow Manifest::json_row(const RowSpan& span) const {
  const Json json = Json::parse(text_.substr(span.offset, span.bytes), nullptr, false);
  if (!json.is_object()) refuse(span, "is no JSON object; each line is one, as {\"uri\": \"a.mp4\"}");
  ManifestRow row;
  for (const auto& [column, value] : json.items()) take(row, column, value, span);
  return row;
}

void Manifest::take(ManifestRow& row, std::string_view column, const Json& value, const RowSpan& span) const {
  if (holds_nul(value)) {
    refuse(span, fmt::format("{}: holds the character NUL, at which a name would end; leave it out", column));
  }
  const auto seconds = [&]() -> std::optional<std::int64_t> {
    if (is_unset(value)) return std::nullopt;
    const auto number = number_of(value);
    if (!number || !(*number >= 0) || *number > kMost_s) {
      refuse(span, fmt::format("{} {}: is not a number of seconds from 0 to 1e9", column, json_text(value, -1)));
    }
    return std::llround(*number * 1e9);
  };
  if (column == "uri") {
    if (!value.is_string()) refuse(span, "uri: is no text");
    row.uri = absolute(std::string(trimmed(value.get_ref<const std::string&>())));
  } else if (column == "start") {
    row.start_ns = seconds().value_or(0);
  } else if (column == "end") {
    row.end_ns = seconds();
  } else if (column == "duration") {
    row.duration_ns = seconds();
  } else if (column == "stream") {
    if (is_unset(value)) return;
    const auto number = number_of(value);
    if (!number || *number != std::floor(*number) || *number < 0 || *number > 10000) {
      refuse(span, fmt::format("stream {}: is not a whole number from 0 to 10000", json_text(value, -1)));
    }
    row.stream = static_cast<int>(*number);
  } else if (column == "key") {
    if (is_unset(value)) return;
    row.key = value.is_string() ? std::string(trimmed(value.get_ref<const std::string&>())) : json_text(value, -1);
    if (!is_key(row.key)) {
      refuse(span, fmt::format("key '{}': is not 1 to 80 of the characters A-Z a-z 0-9 _ -", row.key));
    }
  } else {
    row.extra[std::string(column)] = value;
  }
}

std::string Manifest::absolute(std::string uri) const {
  if (uri.empty() || uri[0] == '/') return uri;
  std::error_code ignored;
  if (has_scheme(uri) && !std::filesystem::exists(folder_ + "/" + uri, ignored)) return uri;
  while (uri.starts_with("./")) uri.erase(0, 2);
  return folder_ + "/" + uri;
}

ManifestRow Manifest::row(const RowSpan& span) const {
  ManifestRow row;
  if (!is_utf8(text_.substr(span.offset, span.bytes))) {
    refuse(span, "is not UTF-8, which a plan is written in; convert the manifest, and rename such files");
  }
  if (kind_ == ManifestKind::kList) {
    take(row, "uri", Json(std::string(text_.substr(span.offset, span.bytes))), span);
  } else {
    row = kind_ == ManifestKind::kCsv ? csv_row(span) : json_row(span);
  }
  if (row.uri.empty()) refuse(span, "has no uri");
  if (row.uri == "-" || row.uri == folder_ + "/-") refuse(span, "uri '-': stdin can't be planned; give a file");
  if (row.end_ns && *row.end_ns <= row.start_ns) refuse(span, "end is not after start");
  return row;
}

}  // namespace saccade
