// Parts of the picture that saliency never looks at: a burnt-in clock, a logo, a subtitle.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/pyramid_layout.h"
#include "pipeline/gaze/lattice/lattice.h"

namespace saccade {

// Of the displayed frame, origin top-left: pixels, or fractions of the frame where no number exceeds 1.
struct IgnoreBox {
  double x = 0, y = 0, width = 0, height = 0;
  bool operator==(const IgnoreBox&) const = default;
  bool in_fractions() const { return x <= 1 && y <= 1 && width <= 1 && height <= 1; }
};

// A picture that is stretched over the displayed frame, whatever its size; 1: ignored.
struct IgnoreMask {
  int width = 0, height = 0;
  std::vector<std::uint8_t> ignored;  // row-major
};

struct IgnoreRegions {
  std::vector<IgnoreBox> boxes;
  std::vector<std::string> mask_files;                   // as they were named
  std::vector<std::shared_ptr<const IgnoreMask>> masks;  // read (run/ignore_mask.h), one a file
  bool operator==(const IgnoreRegions&) const = default;
  bool empty() const { return boxes.empty() && mask_files.empty() && masks.empty(); }
};

// "X,Y,W,H" or a file's name, several separated by ';' or newlines; "none": no region. Throws UsageError.
IgnoreRegions parse_ignore(const std::string& text);
std::string print_ignore(const IgnoreRegions& regions);  // what parse_ignore() reads back

// Row-major, 1: no fixation there. A tile that a region touches is ignored; where that is every tile, those whose
// centre lies in one. Empty: no region. Throws UsageError: a region outside the frame, or nothing is left.
std::vector<std::uint8_t> ignored_tiles(const IgnoreRegions& regions, TileGrid grid, const FrameGeometry& geometry);

}  // namespace saccade
