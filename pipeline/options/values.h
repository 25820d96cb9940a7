// Values and their one canonical spelling. Parsing throws UsageError, without the option's name, for what is no such
// value; printing gives what parsing reads back to the same value, or nullopt for what is unset.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "kernels/enum_names.h"
#include "pipeline/options/option.h"

namespace saccade {

inline constexpr double kMany = 9007199254740992.0;  // 2^53: whole numbers that a double holds exactly

std::vector<std::string> split(std::string_view text, char separator);  // empty pieces are kept

// The names of an enum as OptionSpec::choices; `first` comes before them.
template <NamedEnum E>
std::string choices_of(std::string_view first = {}) {
  std::string list(first);
  for (const EnumName<E>& row : names_of(E{})) list.append(list.empty() ? "" : "|").append(row.text);
  return list;
}

// "a|b|c" as a sentence has it: "a, b or c".
std::string or_list(std::string_view choices);

// spec.choices, spec.lo and spec.hi decide what is allowed.
bool parse_flag(const std::string& text);
const std::string& parse_text(const std::string& text);
const std::string& parse_choice(const OptionSpec& spec, const std::string& text);
std::int64_t parse_integer(const OptionSpec& spec, const std::string& text);
double parse_number(const OptionSpec& spec, const std::string& text);
std::vector<int> parse_integers(const OptionSpec& spec, const std::string& text);
// A word of the choices: nullopt.
std::optional<std::int64_t> parse_word_or_integer(const OptionSpec& spec, const std::string& text);

std::string print_flag(bool value);
std::string print_integer(std::int64_t value);
std::string print_number(double value);
std::string print_integers(const std::vector<int>& values);

// By the type of the field: bool, whole number, double, string, list, enum; optional ones, of which an enum's none is
// called "auto".
template <typename T>
void parse_value(const OptionSpec& spec, const std::string& text, T& out) {
  if constexpr (std::is_same_v<T, bool>) {
    out = parse_flag(text);
  } else if constexpr (std::is_integral_v<T>) {
    out = static_cast<T>(parse_integer(spec, text));
  } else if constexpr (std::is_same_v<T, double>) {
    out = parse_number(spec, text);
  } else if constexpr (std::is_same_v<T, std::string>) {
    out = spec.kind == ValueKind::kChoice ? parse_choice(spec, text) : parse_text(text);
  } else if constexpr (std::is_same_v<T, std::vector<int>>) {
    out = parse_integers(spec, text);
  } else if constexpr (NamedEnum<T>) {
    out = *from_name<T>(parse_choice(spec, text));
  } else if constexpr (NamedEnum<typename T::value_type>) {
    out = from_name<typename T::value_type>(parse_choice(spec, text));
  } else {
    typename T::value_type value{};
    parse_value(spec, text, value);
    out = value;
  }
}

template <typename T>
std::optional<std::string> print_value(const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return print_flag(value);
  } else if constexpr (std::is_integral_v<T>) {
    return print_integer(static_cast<std::int64_t>(value));
  } else if constexpr (std::is_same_v<T, double>) {
    return print_number(value);
  } else if constexpr (std::is_same_v<T, std::string>) {
    return value.empty() ? std::nullopt : std::optional(value);
  } else if constexpr (std::is_same_v<T, std::vector<int>>) {
    return value.empty() ? std::nullopt : std::optional(print_integers(value));
  } else if constexpr (NamedEnum<T>) {
    return name(value);
  } else if constexpr (NamedEnum<typename T::value_type>) {
    return value ? name(*value) : "auto";
  } else {
    return value ? print_value(*value) : std::nullopt;
  }
}

// A row's binding, of whatever options its table is: parses and prints the field that `Get` reaches.
template <typename Get>
struct FieldBinding {
  template <typename Options>
  operator OptionBinding<Options>() const {
    return {.parse = [](const OptionSpec& spec, Options& options,
                        const std::string& text) { parse_value(spec, text, Get{}(options)); },
            .print = [](const Options& options) -> std::optional<std::string> { return print_value(Get{}(options)); }};
  }
};

// get: a lambda without captures, `[](auto& o) -> auto& { return o.field; }`.
template <typename Get>
FieldBinding<Get> field(Get) {
  return {};
}

}  // namespace saccade
