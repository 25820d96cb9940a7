#include "pipeline/options/values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>

#include "pipeline/error.h"

namespace saccade {
namespace {

bool is_choice(std::string_view choices, std::string_view text) {
  for (const auto& word : split(choices, '|')) {
    if (word == text) return true;
  }
  return false;
}

std::string range_text(const OptionSpec& spec) { return fmt::format("from {} to {}", spec.lo, spec.hi); }

std::int64_t integer(const OptionSpec& spec, std::string_view text, const std::string& wanted) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool in_range = static_cast<double>(value) >= spec.lo && static_cast<double>(value) <= spec.hi;
  if (error != std::errc{} || end != text.data() + text.size() || !in_range) {
    throw UsageError(fmt::format("'{}' is not {}", text, wanted));
  }
  return value;
}

std::string whole_number(const OptionSpec& spec) { return "a whole number " + range_text(spec); }

}  // namespace

std::string or_list(std::string_view choices) {
  const auto words = split(choices, '|');
  std::string list;
  for (std::size_t i = 0; i < words.size(); ++i) {
    list += i == 0 ? "" : i + 1 == words.size() ? " or " : ", ";
    list += words[i];
  }
  return list;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> pieces;
  for (std::size_t at = 0;;) {
    const std::size_t next = text.find(separator, at);
    pieces.emplace_back(text.substr(at, next == std::string_view::npos ? next : next - at));
    if (next == std::string_view::npos) return pieces;
    at = next + 1;
  }
}

bool parse_flag(const std::string& text) {
  if (text != "true" && text != "false") throw UsageError(fmt::format("'{}' is not true or false", text));
  return text == "true";
}

const std::string& parse_text(const std::string& text) {
  if (text.empty()) throw UsageError("the value is empty");
  return text;
}

const std::string& parse_choice(const OptionSpec& spec, const std::string& text) {
  if (!is_choice(spec.choices, text)) throw UsageError(fmt::format("'{}' is not {}", text, or_list(spec.choices)));
  return text;
}

std::int64_t parse_integer(const OptionSpec& spec, const std::string& text) {
  return integer(spec, text, whole_number(spec));
}

double parse_number(const OptionSpec& spec, const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value) || value < spec.lo ||
      value > spec.hi) {
    throw UsageError(fmt::format("'{}' is not a number {}", text, range_text(spec)));
  }
  return value;
}

std::vector<int> parse_integers(const OptionSpec& spec, const std::string& text) {
  const std::string wanted = "a list of whole numbers " + range_text(spec) + ", separated by commas";
  std::vector<int> values;
  for (const auto& piece : split(text, ',')) values.push_back(static_cast<int>(integer(spec, piece, wanted)));
  return values;
}

std::optional<std::int64_t> parse_word_or_integer(const OptionSpec& spec, const std::string& text) {
  if (is_choice(spec.choices, text)) return std::nullopt;
  return integer(spec, text, or_list(spec.choices) + " or " + whole_number(spec));
}

std::string print_flag(bool value) { return value ? "true" : "false"; }
std::string print_integer(std::int64_t value) { return fmt::format("{}", value); }
std::string print_number(double value) { return fmt::format("{}", value); }
std::string print_integers(const std::vector<int>& values) { return fmt::format("{}", fmt::join(values, ",")); }

}  // namespace saccade
