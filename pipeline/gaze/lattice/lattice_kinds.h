// The kinds of lattice that make_lattice() chooses from, and what they have in common.
#pragma once

#include <cstdint>
#include <memory>

#include "pipeline/gaze/lattice/lattice.h"

namespace saccade {

inline constexpr int kMaxPatches = 1 << 20;

// Throws UsageError for more than kMaxPatches, which names the option that asks for so many.
[[noreturn]] void refuse_patches(const LatticeConfig& config, std::int64_t count);

std::unique_ptr<Lattice> make_nested_lattice(const LatticeConfig& config, const FrameGeometry& geometry);
std::unique_ptr<Lattice> make_grid_lattice(const LatticeConfig& config, const FrameGeometry& geometry);
std::unique_ptr<Lattice> make_uniform_lattice(const LatticeConfig& config, const FrameGeometry& geometry);
std::unique_ptr<Lattice> make_adaptive_lattice(const LatticeConfig& config, const FrameGeometry& geometry);

// Cells of equal size that cover the frame, one patch at the centre of each.
struct CellGrid {
  int cols = 1;
  int rows = 1;
  int count() const { return cols * rows; }
};

// The cells for a request of `patches`: among grids whose cells, as displayed, are no longer than 1.5 times their width
// (or the reverse), the one with the most cells, at most `patches`; among equals the squarest. Frames too narrow for
// that take the squarest of all.
CellGrid choose_cell_grid(int patches, const FrameGeometry& geometry);

// Fixation coordinates a plan can use: 0..1, the middle when not a number.
float sane_uv(float value);

}  // namespace saccade
