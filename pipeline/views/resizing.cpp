// Each server's own arithmetic, in doubles as the published code has it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "pipeline/error.h"
#include "pipeline/views/token_rule.h"

namespace saccade {
namespace {

constexpr int kMostTiles = 64;  // kAspect tries the shapes of all of them

int units(int side, int unit) { return (side + unit - 1) / unit; }
std::int64_t area(ImageSize size) { return std::int64_t{size.width} * size.height; }
ImageSize swapped(ImageSize size) { return {size.height, size.width}; }
int long_side(ImageSize size) { return std::max(size.width, size.height); }
int short_side(ImageSize size) { return std::min(size.width, size.height); }

// Halves go to the even neighbour, as in Python.
int to_even(double value) { return static_cast<int>(std::nearbyint(value)); }
int to_int(double value) { return static_cast<int>(value); }

// transformers, qwen2_vl, smart_resize()
std::optional<ImageSize> to_multiples(const TokenRule& rule, ImageSize size) {
  const double width = size.width, height = size.height, unit = rule.unit_px;
  if (rule.max_aspect > 0 && std::max(width, height) / std::min(width, height) > rule.max_aspect) return std::nullopt;
  ImageSize to{to_even(width / unit) * rule.unit_px, to_even(height / unit) * rule.unit_px};
  if (rule.max_pixels > 0 && area(to) > rule.max_pixels) {
    const double beta = std::sqrt(height * width / static_cast<double>(rule.max_pixels));
    to = {std::max(rule.unit_px, to_int(std::floor(width / beta / unit)) * rule.unit_px),
          std::max(rule.unit_px, to_int(std::floor(height / beta / unit)) * rule.unit_px)};
  } else if (area(to) < rule.min_pixels) {
    const double beta = std::sqrt(static_cast<double>(rule.min_pixels) / (height * width));
    to = {to_int(std::ceil(width * beta / unit)) * rule.unit_px,
          to_int(std::ceil(height * beta / unit)) * rule.unit_px};
  }
  if (area(to) == 0) return std::nullopt;  // a side below half a unit, of no minimum
  return to;
}

ImageSize within_side(ImageSize size, int most) {
  if (most <= 0 || long_side(size) <= most) return size;
  const double scale = static_cast<double>(most) / long_side(size);
  const auto scaled = [&](int side) { return std::max(1, to_even(side * scale)); };
  return {scaled(size.width), scaled(size.height)};
}

int patches_of(const TokenRule& rule, ImageSize size) {
  return units(size.width, rule.unit_px) * units(size.height, rule.unit_px);
}

// OpenAI's guide, "Patch-based image tokenization"
ImageSize to_budget(const TokenRule& rule, ImageSize given) {
  const ImageSize size = within_side(given, rule.max_side_px);
  if (rule.max_units <= 0 || patches_of(rule, size) <= rule.max_units) return size;
  const double width = size.width, height = size.height, unit = rule.unit_px;
  const double shrink = std::sqrt(unit * unit * rule.max_units / (width * height));
  const auto whole = [&](double side) { return std::floor(side * shrink / unit) / (side * shrink / unit); };
  const double adjusted = shrink * std::min(whole(width), whole(height));
  return {std::max(1, to_int(width * adjusted)), std::max(1, to_int(height * adjusted))};
}

bool fits_padded(const TokenRule& rule, ImageSize size) {
  return units(long_side(size), rule.unit_px) * rule.unit_px <= rule.max_side_px &&
         patches_of(rule, size) <= rule.max_units;
}

// Claude's guide, "How Claude resizes and pads images": the reference implementation bisects the long side
ImageSize to_padded(const TokenRule& rule, ImageSize size) {
  if (fits_padded(rule, size)) return size;
  if (size.height > size.width) return swapped(to_padded(rule, swapped(size)));
  const double aspect = static_cast<double>(size.width) / size.height;
  const auto of_width = [&](int width) { return ImageSize{width, std::max(to_even(width / aspect), 1)}; };
  int low = 1, high = size.width;
  while (low + 1 < high) {
    const int middle = (low + high) / 2;
    (fits_padded(rule, of_width(middle)) ? low : high) = middle;
  }
  return of_width(low);
}

// OpenAI's guide, "Tile-based image tokenization"
ImageSize to_tiles(const TokenRule& rule, ImageSize given) {
  const ImageSize size = within_side(given, rule.max_side_px);
  const int shorter = short_side(size);
  if (shorter <= rule.max_short_px) return size;
  const auto scaled = [&](int side) { return static_cast<int>(std::int64_t{side} * rule.max_short_px / shorter); };
  return {scaled(size.width), scaled(size.height)};
}

// transformers, got_ocr2, get_optimal_tiled_canvas()
ImageSize to_aspect(const TokenRule& rule, ImageSize size) {
  const double aspect = static_cast<double>(size.width) / size.height;
  ImageSize best{1, 1};
  double least = 1e300;
  for (int count = 1; count <= rule.max_units; ++count) {
    for (int cols = 1; cols <= count; ++cols) {
      if (count % cols != 0) continue;
      const ImageSize grid{cols, count / cols};
      const double off = std::fabs(aspect - static_cast<double>(grid.width) / grid.height);
      const double half = 0.5 * rule.unit_px * rule.unit_px * grid.width * grid.height;
      if (off < least || (off == least && static_cast<double>(area(size)) > half)) best = grid;
      least = std::min(least, off);
    }
  }
  return {best.width * rule.unit_px, best.height * rule.unit_px};
}

// transformers, image_processing_utils, select_best_resolution(); of grids by rising height, then width
ImageSize best_grid(const TokenRule& rule, ImageSize size) {
  ImageSize best;
  std::int64_t most = 0, least_wasted = 0;
  for (int height = rule.unit_px; height <= rule.max_side_px; height += rule.unit_px) {
    for (int width = rule.unit_px; width <= rule.max_side_px; width += rule.unit_px) {
      const double scale = std::min(static_cast<double>(width) / size.width, static_cast<double>(height) / size.height);
      const ImageSize to{to_int(size.width * scale), to_int(size.height * scale)};
      const std::int64_t effective = std::min(area(to), area(size));
      const std::int64_t wasted = std::int64_t{width} * height - effective;
      if (effective < most || (effective == most && best.width > 0 && wasted >= least_wasted)) continue;
      best = {width, height};
      most = effective;
      least_wasted = wasted;
    }
  }
  return best;
}

// transformers, image_transforms, get_patch_output_size(): what of the grid is picture
ImageSize to_anyres(const TokenRule& rule, ImageSize size) {
  const ImageSize grid = best_grid(rule, size);
  const double x = static_cast<double>(grid.width) / size.width, y = static_cast<double>(grid.height) / size.height;
  if (x < y) return {grid.width, std::min(to_int(std::ceil(size.height * x)), grid.height)};
  return {std::min(to_int(std::ceil(size.width * y)), grid.width), grid.height};
}

// How often b is in a, as Python's a // b of doubles: a quotient that rounds up to an integer does not count.
int whole_times(double a, double b) { return to_even((a - std::fmod(a, b)) / b); }

// transformers, llava_onevision, _get_number_of_features()
int anyres_tokens(const TokenRule& rule, ImageSize size) {
  const ImageSize grid = best_grid(rule, size);
  const int side = to_even(std::sqrt(rule.unit_tokens));
  int rows = side * (grid.height / rule.unit_px), cols = side * (grid.width / rule.unit_px);
  const double aspect = static_cast<double>(size.width) / size.height, of_grid = static_cast<double>(cols) / rows;
  const auto rounded = [](double value) { return to_int(std::nearbyint(value * 1e7) / 1e7); };
  if (aspect > of_grid) {
    rows -= (rows - rounded(size.height * (static_cast<double>(cols) / size.width))) / 2 * 2;
  } else {
    cols -= (cols - rounded(size.width * (static_cast<double>(rows) / size.height))) / 2 * 2;
  }
  const double ratio =
      std::sqrt(static_cast<double>(rows) * cols / (static_cast<double>(rule.max_units) * side * side));
  if (ratio > 1.1) {
    rows = whole_times(rows, ratio);
    cols = whole_times(cols, ratio);
  }
  return rows * cols + rows + rule.base_tokens;  // a row ends in a newline
}

// Gemini's guide: the side of a tile before it is resized
int crop_px(ImageSize size) { return std::max(1, short_side(size) * 2 / 3); }

int count_units(const TokenRule& rule, ImageSize seen) {
  if (rule.resizing != Resizing::kCropped) {
    const int all = patches_of(rule, seen);
    return rule.resizing == Resizing::kAspect && all > 1 ? all + 1 : all;
  }
  if (long_side(seen) <= rule.max_short_px) return 1;
  return units(seen.width, crop_px(seen)) * units(seen.height, crop_px(seen));
}

void require(bool holds, const char* what) {
  if (!holds) throw UsageError(fmt::format("the rule of tokens: {}", what));
}

}  // namespace

void check_rule(const TokenRule& rule) {
  const auto is_side = [](int px) { return px >= 1 && px <= kMostViewSidePx; };
  const bool has_side =
      rule.resizing == Resizing::kPadded || rule.resizing == Resizing::kTiles || rule.resizing == Resizing::kAnyres;
  const bool has_units =
      rule.resizing == Resizing::kPadded || rule.resizing == Resizing::kAspect || rule.resizing == Resizing::kAnyres;
  const bool has_short = rule.resizing == Resizing::kTiles || rule.resizing == Resizing::kCropped;
  require(is_side(rule.unit_px) && is_side(rule.step_px), "unit_px and step_px are 1 to 65536");
  require(rule.unit_tokens > 0 && rule.unit_tokens <= 1e6, "unit_tokens is above 0, at most 1e6");
  require(rule.base_tokens >= 0 && rule.base_tokens <= 1000000, "base_tokens is 0 to 1000000");
  require(rule.min_pixels >= 0 && rule.max_pixels >= 0, "min_pixels and max_pixels are not below 0");
  require(rule.max_pixels == 0 || rule.min_pixels <= rule.max_pixels, "min_pixels is above max_pixels");
  require(!has_side || rule.max_side_px >= rule.unit_px, "this resizing needs max_side_px, a unit or more");
  require(!has_units || rule.max_units >= 1, "this resizing needs max_units");
  require(rule.resizing != Resizing::kAspect || rule.max_units <= kMostTiles, "max_units is at most 64 tiles");
  require(rule.resizing != Resizing::kAnyres || rule.max_side_px / rule.unit_px <= kMostTiles,
          "max_side_px is at most 64 tiles");
  require(!has_short || rule.max_short_px >= 1, "this resizing needs max_short_px");
  require(rule.max_side_px >= 0 && rule.max_units >= 0 && rule.max_short_px >= 0 && rule.max_aspect >= 0 &&
              rule.most_images >= 0,
          "a limit is below 0");
}

std::optional<ImageSize> seen_size(const TokenRule& rule, ImageSize size) {
  switch (rule.resizing) {
    case Resizing::kMultiples:
      return to_multiples(rule, size);
    case Resizing::kBudget:
      return to_budget(rule, size);
    case Resizing::kPadded:
      return to_padded(rule, size);
    case Resizing::kTiles:
      return to_tiles(rule, size);
    case Resizing::kAspect:
      return to_aspect(rule, size);
    case Resizing::kAnyres:
      return to_anyres(rule, size);
    case Resizing::kFixed:
      return ImageSize{rule.unit_px, rule.unit_px};
    case Resizing::kCropped:
      return size;
  }
  return std::nullopt;
}

std::optional<int> tokens_of(const TokenRule& rule, ImageSize size) {
  if (rule.resizing == Resizing::kAnyres) return anyres_tokens(rule, size);
  const std::optional<ImageSize> seen = seen_size(rule, size);
  if (!seen) return std::nullopt;
  return rule.base_tokens + to_int(std::ceil(count_units(rule, *seen) * rule.unit_tokens));
}

bool is_kept(const TokenRule& rule, ImageSize size) {
  if (seen_size(rule, size) != size) return false;
  if (rule.resizing == Resizing::kAnyres) return best_grid(rule, size) == size;
  // Tiles of Gemini's are resized to unit_px unless they have that size.
  return rule.resizing != Resizing::kCropped || long_side(size) <= rule.max_short_px || crop_px(size) == rule.unit_px;
}

std::optional<ImageSize> kept_size(const TokenRule& rule, ImageSize holds) {
  const auto stepped = [&](int side) { return units(side, rule.step_px) * rule.step_px; };
  ImageSize size{stepped(holds.width), stepped(holds.height)};
  if (rule.resizing == Resizing::kCropped && long_side(size) > rule.max_short_px) {
    const int least = rule.unit_px * 3 / 2;
    if (short_side(size) > least) return std::nullopt;
    size = {std::max(size.width, least), std::max(size.height, least)};
  }
  const auto is_thin = [&] {
    return rule.max_aspect > 0 && long_side(size) > std::int64_t{rule.max_aspect} * short_side(size);
  };
  while ((area(size) < rule.min_pixels || is_thin()) && long_side(size) <= kMostViewSidePx) {
    (size.width <= size.height ? size.width : size.height) += rule.step_px;
  }
  if (!is_kept(rule, size)) return std::nullopt;
  return size;
}

std::optional<ImageSize> largest_kept_size(const TokenRule& rule, ImageSize shape, int tokens) {
  const bool upright = shape.height > shape.width;
  const double aspect = static_cast<double>(long_side(shape)) / short_side(shape);
  std::optional<ImageSize> best;
  for (int longer = rule.step_px; longer <= kMostViewSidePx; longer += rule.step_px) {
    const int shorter = std::max(rule.step_px, to_int(longer / aspect / rule.step_px + 0.5) * rule.step_px);
    const ImageSize size = upright ? ImageSize{shorter, longer} : ImageSize{longer, shorter};
    const std::optional<int> counted = tokens_of(rule, size);
    if (counted && *counted <= tokens && is_kept(rule, size)) best = size;
  }
  return best;
}

}  // namespace saccade
