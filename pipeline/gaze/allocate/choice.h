// Which squares to send: those that lower the weighted error of the receiver's picture most.
//
// Note [Price of a square]
// Squares form quadtrees over the tiles. At a price, a node is either taken whole or left to its four parts, whichever
// gains more after each square taken has paid. From the bottom up this gives the best set at that price, and no set of
// as many squares gains more (Everett 1963). A higher price never takes more squares, so the price is searched until
// the set fits. All numbers are integers. Of two sets that gain the same, the one of fewer squares is taken.
// The best sets at two neighbouring prices may differ by many squares. What is left is then spent on those subtrees of
// the larger set that fit, in the order of the trees. At most one unit of gain a square is lost by that.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/held_picture.h"
#include "pipeline/gaze/weights/weight.h"

namespace saccade {

// Allocates in the constructor and in exclude(). The same input gives the same squares everywhere.
class SquareChoice {
 public:
  // levels: of squares, 1 to kSquareLevels.
  SquareChoice(TileGrid grid, int levels);

  // From the next rate() on this square is never taken; its parts may be.
  void exclude(const Square& square);

  // Gain of a square: over its tiles, weight * (error held - error of its own texels). No weights: all are full.
  void rate(const TileErrors& errors, std::span<const Weight> weights = {});

  // After rate(). Squares don't overlap, and each gains more than 1. Valid until the next call.
  std::span<const Square> at_most(int squares);
  // The fewest at one price for all that gain at least `gain` together. If all squares can't, all that gain.
  std::span<const Square> that_gain(std::int64_t gain);

 private:
  struct Total {
    std::int64_t count = 0, gain = 0;
    Total& operator+=(const Total& other) {
      count += other.count;
      gain += other.gain;
      return *this;
    }
    bool operator==(const Total&) const = default;
  };
  // The best set at a price. Of each node: kUnit times what it gains after paying, less the number of its squares. So
  // the larger of two is that of fewer squares if both gain the same.
  struct Solution {
    std::int64_t price = 0;
    std::array<std::vector<std::int64_t>, kSquareLevels> levels;
    Total total(std::size_t level, std::size_t node) const;
    bool whole(std::size_t level, std::size_t node) const;  // one square, or its parts' sets
  };
  enum class Take { kMany, kFew, kParts };

  template <std::size_t kTop>
  void rate_levels(const TileErrors& errors, std::span<const Weight> weights);
  void solve_nodes(std::size_t level, std::size_t first, std::size_t count, Solution& out) const;
  void solve(std::size_t tree, Solution& out) const;
  template <typename Size>
  std::strong_ordering try_all(std::int64_t price, const Size& size);
  template <typename Size>
  void find_prices(const Size& size);
  template <typename Size>
  void bisect(const Size& size, std::int64_t low, std::int64_t& high);
  template <typename Decide>
  std::span<const Square> mix(const Decide& decide);
  template <typename Decide>
  void mix_node(std::size_t level, std::size_t node, bool none, const Decide& decide);
  void take(const Solution& from, std::size_t level, std::size_t node);
  void add(std::size_t level, std::size_t node);

  std::size_t top_;    // the trees' roots are squares of this level
  std::size_t block_;  // squares of this level are passed by together
  std::size_t tree_cols_, trees_;
  std::vector<std::int32_t> tiles_;  // of each node of level 0: its tile; -1: beyond the grid
  // Of each node. They lie tree after tree, in Z-order: the parts of node n are 4 n to 4 n + 3 of the level below.
  std::array<std::vector<std::int64_t>, kSquareLevels> gains_;    // times kUnit
  std::array<std::vector<std::size_t>, kSquareLevels> excluded_;  // nodes
  std::vector<std::int64_t> most_;                                // of each block: no gain in it is larger
  Solution many_, few_;                                           // at neighbouring prices
  std::int64_t most_gain_ = 0;                                    // of all squares
  std::int64_t price_ = 0;                                        // of the last choice; 0: there was none
  std::vector<Total> at_many_, at_few_, tried_;                   // of each tree
  std::vector<std::size_t> open_;                                 // trees that differ between the two prices, in order
  std::vector<Square> squares_;
};

}  // namespace saccade
