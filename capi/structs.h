// The versions of public structs: what a caller of another version sees of them.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstring>
#include <initializer_list>

#include "capi/error.h"

namespace saccade::capi {

// A caller's struct larger than this was not initialised.
inline constexpr std::size_t kLargestStruct = 4096;

// Sizes that a struct had in earlier versions.
using EarlierSizes = std::initializer_list<std::size_t>;

// Throws UsageError unless `size` is the struct's, one that it had, or a later version's.
template <typename Struct>
void check_size(const char* function, std::size_t size, EarlierSizes earlier) {
  bool known = size >= sizeof(Struct) && size <= kLargestStruct;
  for (const std::size_t was : earlier) known |= size == was;
  if (known) return;
  refuse(function, fmt::format("struct_size is {}; set it to sizeof the struct, {}", size, sizeof(Struct)));
}

// Copies `values` into the caller's struct: the fields that both versions know. Fields that only the caller's newer
// header knows become 0. Throws UsageError for a NULL or a size that never was.
template <typename Struct>
void fill(const char* function, Struct* out, Struct values, EarlierSizes earlier = {}) {
  require(out != nullptr, function, "the struct to fill is NULL");
  const std::size_t size = out->struct_size;
  check_size<Struct>(function, size, earlier);
  values.struct_size = size;
  const std::size_t known = size < sizeof values ? size : sizeof values;
  std::memcpy(out, &values, known);
  std::memset(reinterpret_cast<char*>(out) + known, 0, size - known);
}

// The caller's struct as this version has it; fields that his version lacks are 0. Throws UsageError likewise, and for
// a newer version's field that is not 0: what it asks for would be ignored.
template <typename Struct>
Struct read(const char* function, const Struct* in, EarlierSizes earlier = {}) {
  require(in != nullptr, function, "a struct is NULL");
  const std::size_t size = in->struct_size;
  check_size<Struct>(function, size, earlier);
  Struct values{};
  std::memcpy(&values, in, size < sizeof values ? size : sizeof values);
  const auto* bytes = reinterpret_cast<const unsigned char*>(in);
  for (std::size_t i = sizeof values; i < size; ++i) {
    require(bytes[i] == 0, function, "a struct has fields that this version of the library doesn't know");
  }
  return values;
}

}  // namespace saccade::capi
