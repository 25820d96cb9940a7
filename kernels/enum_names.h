// The names of an enum's values, once: a table beside the enum that name() and from_name() read.
#pragma once

#include <concepts>
#include <optional>
#include <span>
#include <string_view>

namespace saccade {

template <typename E>
struct EnumName {
  E value;
  const char* text;
};

// An enum that has a table says so beside it, for argument-dependent lookup:
//   inline constexpr EnumName<E> kNamesOfE[] = {{E::kFirst, "first"}, ...};
//   constexpr std::span<const EnumName<E>> names_of(E) { return kNamesOfE; }
template <typename E>
concept NamedEnum = requires(E value) {
  { names_of(value) } -> std::same_as<std::span<const EnumName<E>>>;
};

template <NamedEnum E>
constexpr const char* name(E value) {
  for (const EnumName<E>& row : names_of(value)) {
    if (row.value == value) return row.text;
  }
  return "?";
}

// nullopt: no value has this name.
template <NamedEnum E>
constexpr std::optional<E> from_name(std::string_view text) {
  for (const EnumName<E>& row : names_of(E{})) {
    if (text == row.text) return row.value;
  }
  return std::nullopt;
}

}  // namespace saccade
