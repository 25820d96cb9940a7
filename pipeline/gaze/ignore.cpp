#include "pipeline/gaze/ignore.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include "pipeline/error.h"

namespace saccade {
namespace {

constexpr double kMostPx = 1e6;

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

// Digits, signs, points and commas alone: a region, be it right or wrong. Anything else names a file.
bool looks_like_box(std::string_view text) {
  return text.find(',') != text.npos && text.find_first_not_of("0123456789+-.,eE ") == text.npos;
}

IgnoreBox parse_box(std::string_view text) {
  const auto refuse = [&text](const char* why) {
    throw UsageError(fmt::format("'{}' {}; expected X,Y,W,H in pixels, or in fractions of the frame", text, why));
  };
  double values[4];
  std::string_view rest = text;
  for (int i = 0; i < 4; ++i) {
    const std::size_t comma = rest.find(',');
    const std::string_view word = trimmed(rest.substr(0, comma));
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), values[i]);
    if (word.empty() || error != std::errc{} || end != word.data() + word.size()) refuse("is no region");
    if ((comma == rest.npos) != (i == 3)) refuse("has not four numbers");
    if (i < 3) rest.remove_prefix(comma + 1);
  }
  const IgnoreBox box{values[0], values[1], values[2], values[3]};
  if (!(box.x >= 0 && box.y >= 0 && box.x <= kMostPx && box.y <= kMostPx)) refuse("begins outside the frame");
  if (!(box.width > 0 && box.height > 0 && box.width <= kMostPx && box.height <= kMostPx)) refuse("has no size");
  return box;
}

// Which tiles are touched, and which have their centre inside.
struct Marks {
  TileGrid grid;
  double width_px, height_px;
  std::vector<std::uint8_t> touched, centred;

  Marks(TileGrid tiles, const FrameGeometry& geometry)
      : grid(tiles),
        width_px(geometry.width_px),
        height_px(geometry.height_px),
        touched(static_cast<std::size_t>(tiles.count())),
        centred(touched.size()) {}

  double centre(int tile, double extent_px) const {
    return 0.5 * (tile * kTilePx + std::min((tile + 1.0) * kTilePx, extent_px));
  }
  void box(double left, double top, double right, double bottom) {
    right = std::min(right, width_px);
    bottom = std::min(bottom, height_px);
    if (!(left < right && top < bottom)) return;
    const int row_end = static_cast<int>(std::ceil(bottom / kTilePx)),
              col_end = static_cast<int>(std::ceil(right / kTilePx));
    for (int row = static_cast<int>(top / kTilePx); row < row_end; ++row) {
      for (int col = static_cast<int>(left / kTilePx); col < col_end; ++col) {
        const auto tile = static_cast<std::size_t>(row * grid.cols + col);
        const double x = centre(col, width_px), y = centre(row, height_px);
        touched[tile] = 1;
        if (x >= left && x < right && y >= top && y < bottom) centred[tile] = 1;
      }
    }
  }
  // Runs of ignored texels in a row of the mask are boxes of the frame.
  void mask(const IgnoreMask& mask) {
    const double scale_x = width_px / mask.width, scale_y = height_px / mask.height;
    for (int y = 0; y < mask.height; ++y) {
      const auto* row = mask.ignored.data() + static_cast<std::ptrdiff_t>(y) * mask.width;
      for (int x = 0; x < mask.width; ++x) {
        if (row[x] == 0) continue;
        const int begin = x;
        while (x < mask.width && row[x] != 0) ++x;
        box(begin * scale_x, y * scale_y, x * scale_x, (y + 1) * scale_y);
      }
    }
  }
};

bool all(const std::vector<std::uint8_t>& marks) {
  return std::all_of(marks.begin(), marks.end(), [](std::uint8_t mark) { return mark != 0; });
}

}  // namespace

IgnoreRegions parse_ignore(const std::string& text) {
  IgnoreRegions regions;
  if (text == "none") return regions;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find_first_of(";\n"), rest.size());
    const std::string_view word = trimmed(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (word.empty()) continue;
    if (looks_like_box(word)) {
      regions.boxes.push_back(parse_box(word));
    } else {
      regions.mask_files.emplace_back(word);
    }
  }
  if (regions.empty()) throw UsageError("expected regions X,Y,W,H or the name of a mask's picture");
  return regions;
}

std::string print_ignore(const IgnoreRegions& regions) {
  std::string text;
  for (const IgnoreBox& box : regions.boxes) {
    text += fmt::format("{}{},{},{},{}", text.empty() ? "" : ";", box.x, box.y, box.width, box.height);
  }
  for (const std::string& file : regions.mask_files) text += fmt::format("{}{}", text.empty() ? "" : ";", file);
  return text;
}

std::vector<std::uint8_t> ignored_tiles(const IgnoreRegions& regions, TileGrid grid, const FrameGeometry& geometry) {
  if (regions.empty()) return {};
  Marks marks(grid, geometry);
  for (const IgnoreBox& box : regions.boxes) {
    const double scale_x = box.in_fractions() ? geometry.width_px : 1,
                 scale_y = box.in_fractions() ? geometry.height_px : 1;
    if (box.x * scale_x >= geometry.width_px || box.y * scale_y >= geometry.height_px) {
      throw UsageError(OfOption("ignore", fmt::format("{},{},{},{}", box.x, box.y, box.width, box.height)),
                       fmt::format("lies outside the frame of {}x{}", geometry.width_px, geometry.height_px));
    }
    marks.box(box.x * scale_x, box.y * scale_y, (box.x + box.width) * scale_x, (box.y + box.height) * scale_y);
  }
  if (regions.masks.size() < regions.mask_files.size()) {
    throw UsageError(OfOption("ignore", regions.mask_files[regions.masks.size()]), "the mask was not read");
  }
  for (const auto& mask : regions.masks) marks.mask(*mask);
  if (!all(marks.touched)) return marks.touched;
  if (!all(marks.centred)) return marks.centred;
  throw UsageError(OfOption("ignore", print_ignore(regions)), "nothing of the frame is left to look at");
}

}  // namespace saccade
