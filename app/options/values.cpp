#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "app/options/table.h"
#include "pipeline/error.h"

namespace saccade {
namespace {

std::string or_list(std::string_view choices) {
  const auto words = split(choices, '|');
  std::string list;
  for (std::size_t i = 0; i < words.size(); ++i) {
    list += i == 0 ? "" : i + 1 == words.size() ? " or " : ", ";
    list += words[i];
  }
  return list;
}

bool is_choice(std::string_view choices, std::string_view text) {
  for (const auto& word : split(choices, '|')) {
    if (word == text) return true;
  }
  return false;
}

std::string range_text(const OptionSpec& spec) { return fmt::format("from {} to {}", spec.lo, spec.hi); }

std::string integer(const OptionSpec& spec, std::string_view text, const std::string& wanted) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool in_range = static_cast<double>(value) >= spec.lo && static_cast<double>(value) <= spec.hi;
  if (error != std::errc{} || end != text.data() + text.size() || !in_range) {
    throw UsageError(fmt::format("'{}' is not {}", text, wanted));
  }
  return fmt::format("{}", value);
}

std::string number(const OptionSpec& spec, std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value) || value < spec.lo ||
      value > spec.hi) {
    throw UsageError(fmt::format("'{}' is not a number {}", text, range_text(spec)));
  }
  return fmt::format("{}", value);
}

std::string integers(const OptionSpec& spec, const std::string& text) {
  const std::string wanted = "a list of whole numbers " + range_text(spec) + ", separated by commas";
  std::string list;
  for (const auto& piece : split(text, ',')) {
    if (!list.empty()) list += ',';
    list += integer(spec, piece, wanted);
  }
  return list;
}

}  // namespace

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> pieces;
  for (std::size_t at = 0;;) {
    const std::size_t next = text.find(separator, at);
    pieces.emplace_back(text.substr(at, next == std::string_view::npos ? next : next - at));
    if (next == std::string_view::npos) return pieces;
    at = next + 1;
  }
}

std::string canonical_value(const OptionSpec& spec, const std::string& text) {
  const std::string whole = "a whole number " + range_text(spec);
  switch (spec.kind) {
    case ValueKind::kFlag:
      if (text != "true" && text != "false") throw UsageError(fmt::format("'{}' is not true or false", text));
      return text;
    case ValueKind::kText:
      if (text.empty()) throw UsageError("the value is empty");
      return text;
    case ValueKind::kChoice:
      if (!is_choice(spec.choices, text)) {
        throw UsageError(fmt::format("'{}' is not {}", text, or_list(spec.choices)));
      }
      return text;
    case ValueKind::kInteger:
      return integer(spec, text, whole);
    case ValueKind::kNumber:
      return number(spec, text);
    case ValueKind::kIntegers:
      return integers(spec, text);
    case ValueKind::kWordOrInteger:
      if (is_choice(spec.choices, text)) return text;
      return integer(spec, text, or_list(spec.choices) + " or " + whole);
  }
  return text;
}

}  // namespace saccade
