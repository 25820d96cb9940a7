// Makes the two seams of a backend. Chosen once, at start; never swapped silently.
#pragma once

#include <cstdint>
#include <memory>

#include "kernels/pyramid.h"
#include "kernels/tile_differ.h"

namespace saccade {

enum class Backend : std::uint8_t { kCpu };
const char* name(Backend backend);

struct BackendParts {
  std::unique_ptr<Pyramid> pyramid;
  std::unique_ptr<TileDiffer> differ;  // refers to `pyramid`: destroyed first
};

BackendParts make_backend(Backend backend, const PyramidLayout& layout, const DiffConfig& diff);

}  // namespace saccade
