// The integer geometry of the nested lattice: which patches each level has, relative to the pattern's centre.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/patch_plan.h"
#include "pipeline/gaze/lattice/lattice.h"

namespace saccade {

// Note [Nested rings]
// A patch of level l covers a square of S * 2^l level-0 pixels. Level l is a square of G x G patches around the centre
// with a hole of h x h, which the level before fills: h_l = G_{l-1} / 2. Square and hole share their centre, so G and h
// have the same parity. The centre is the fixation rounded to a multiple of 2^L pixels, L being the coarsest level:
// every sample of level l is then the centre of a texel of level l, and squares meet without gap or overlap.
//
// In the solved form level l ends where lod passes the half: R_l = (M0 2^(l + 1/2) - e0) / unit pixels (unit: the
// geometric mean of both axes), G_l being the multiple of 4 nearest to 2 R_l / (S 2^l), no smaller than the hole, and
// at least 4 at level 0. L is the first level whose square covers the frame from any fixation, or the last of the
// pyramid; its square is enlarged as far as that takes. Patches that overlap the frame from no fixation at all are
// trimmed, at every level: what is left depends on frame and settings alone, so N is constant.
struct Ring {
  int level = 0;
  int side = 0;  // G: patches along a side of the square, before trimming
  int hole = 0;  // h
  // Patches that are kept: columns [col_begin, col_end), rows [row_begin, row_end), of 0 .. side - 1.
  int col_begin = 0, col_end = 0;
  int row_begin = 0, row_end = 0;
  std::int64_t count() const;  // kept, without the hole
  bool operator==(const Ring&) const = default;
};

struct RingPattern {
  int patch_size = 16;
  std::vector<Ring> rings;  // rising levels
  int snap_px() const { return 1 << rings.back().level; }
  std::int64_t count() const;
  // Patches relative to the pattern's centre, coverage 0: level by level, row-major in each.
  std::vector<Patch> offsets() const;
  bool operator==(const RingPattern&) const = default;
};

// The solved form for a given M0 and e0, both in the unit of `unit_per_px` (> 0).
RingPattern solved_rings(double m0, double e0, double unit_per_px, int patch_size, const FrameGeometry& geometry);

// The explicit form; neither enlarged nor trimmed. Throws UsageError.
RingPattern explicit_rings(std::span<const ExplicitRing> rings, int patch_size, const FrameGeometry& geometry);

// A position rounded to a multiple of the pattern's snap, which the patterns are centred on.
double snapped_px(double position_px, int snap_px);

struct RingBudget {
  double m0 = 0;
  double e0 = 0;
  RingPattern pattern;
  std::int64_t smallest = 0;  // N of the smallest pattern that covers the frame
  bool found = false;         // a pattern within the budget exists
};

// The largest N <= `patches` over all e0. fixed_m0 > 0 keeps that M0, otherwise M0 = e0. N is piecewise constant in e0:
// the search visits the middle of every piece.
RingBudget spend_budget(int patches, double fixed_m0, double unit_per_px, int patch_size,
                        const FrameGeometry& geometry);

// Note [Tokens]
// What a model reads is what lies inside the frame: patches whose square meets it. A pattern's rings are the same for
// every fixation, so the count inside varies; `most` is what no fixation exceeds. The search over patterns: the fovea's
// side G_0 (multiples of 4), one least side p for all rings around it, and the coarsest level L, which the centre is
// rounded to. The widest fovea that takes no more than kFoveaShare of the tokens wins, and among those the periphery of
// the finest mean level.
struct TokenPattern {
  RingPattern pattern;
  std::int64_t most = 0;      // patches inside the frame, at most
  std::int64_t fewest = 0;    // and at least
  double mean = 0;            // over all centres
  std::int64_t smallest = 0;  // the least `most` of all patterns of this fovea
  std::int64_t fovea_px = 0;  // of the fovea that was asked for, or of the smallest
  bool found = false;
};

// fovea_px: the width to come nearest to; 0: none is asked for.
TokenPattern spend_tokens(int tokens, double fovea_px, int patch_size, const FrameGeometry& geometry);

// Sides for the levels from 0 on, the last one widened until it covers the frame from any fixation; trimmed.
RingPattern widened_rings(int fovea_side, int least_side, int last_level, int patch_size,
                          const FrameGeometry& geometry);

}  // namespace saccade
