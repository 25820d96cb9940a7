// How much a tile's error counts. Weights multiply; all are integers, so that every machine chooses alike.
#pragma once

#include <cstdint>

namespace saccade {

using Weight = std::uint32_t;                    // of kFullWeight
inline constexpr Weight kFullWeight = 1U << 16;  // the error counts as it is

// Both at most kFullWeight. Rounded down.
constexpr Weight product(Weight a, Weight b) { return static_cast<Weight>(std::uint64_t{a} * b >> 16); }

}  // namespace saccade
