#include "pipeline/backend/texture_layout.h"

#include <fmt/format.h>

#include "pipeline/error.h"

namespace saccade {
namespace {

Hint hint_of(LayoutError::Reason reason) {
  switch (reason) {
    case LayoutError::Reason::kArguments:
      return Hint::kNone;
    case LayoutError::Reason::kTooManyLevels:
      return Hint::kFewerLevels;
    case LayoutError::Reason::kTooLarge:
      return Hint::kSmallerFrame;
  }
  return Hint::kNone;
}

}  // namespace

PyramidLayout texture_layout(int width_px, int height_px, PixelLayout layout, int levels) {
  try {
    return make_pyramid_layout(width_px, height_px, texture_format(layout), levels);
  } catch (const LayoutError& error) {
    const Hint hint = hint_of(error.reason());
    if (hint == Hint::kFewerLevels) throw InputError(OfOption("levels", fmt::to_string(levels)), error.what(), hint);
    throw InputError(error.what(), hint);
  }
}

}  // namespace saccade
