// The versions of public structs: what a caller of another version sees of them.
#pragma once

#include <cstddef>
#include <cstring>

#include "capi/error.h"

namespace saccade::capi {

// A caller's struct larger than this was not initialised.
inline constexpr std::size_t kLargestStruct = 4096;

// Copies `values` into the caller's struct: the fields that both versions know. Fields that only the caller's newer
// header knows become 0. Throws UsageError unless struct_size is plausible: at least one field beside itself.
template <typename Struct>
void fill(const char* function, Struct* out, Struct values) {
  require(out != nullptr, function, "the struct to fill is NULL");
  const std::size_t size = out->struct_size;
  require(size > sizeof(std::size_t) && size <= kLargestStruct, function,
          "struct_size is wrong; set it to sizeof the struct");
  values.struct_size = size;
  const std::size_t known = size < sizeof values ? size : sizeof values;
  std::memcpy(out, &values, known);
  std::memset(reinterpret_cast<char*>(out) + known, 0, size - known);
}

}  // namespace saccade::capi
