#include "pipeline/backend.h"

#include "kernels/cpu/cpu_pyramid.h"
#include "kernels/cpu/cpu_tile_differ.h"

namespace saccade {

const char* name(Backend backend) {
  switch (backend) {
    case Backend::kCpu:
      return "cpu";
  }
  return "?";
}

BackendParts make_backend(Backend backend, const PyramidLayout& layout, const DiffConfig& diff) {
  BackendParts parts;
  switch (backend) {
    case Backend::kCpu: {
      auto pyramid = std::make_unique<CpuPyramid>(layout);
      parts.differ = std::make_unique<CpuTileDiffer>(*pyramid, diff);
      parts.pyramid = std::move(pyramid);
      break;
    }
  }
  return parts;
}

}  // namespace saccade
