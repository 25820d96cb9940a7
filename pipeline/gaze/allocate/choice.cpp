#include "pipeline/gaze/allocate/choice.h"

#include <algorithm>
#include <compare>
#include <numeric>
#include <utility>

namespace saccade {
namespace {

constexpr std::int64_t kLeastPrice = 1;  // a square gains more than this
constexpr std::int64_t kStep = 2;        // between prices that are tried first
constexpr std::size_t kBlockLevel = 2;
constexpr std::int64_t kUnit = 1 << 12;  // of a gain, so that the squares of a tree can be counted below it
static_assert(kUnit > 1 << 2 * (kSquareLevels - 1));

// Of a node within its tree: Z-order has x in the even bits, y in the odd ones.
std::size_t z_order(std::size_t x, std::size_t y) {
  std::size_t z = 0;
  for (std::size_t bit = 0; bit < kSquareLevels; ++bit) {
    z |= (x >> bit & 1U) << (2 * bit) | (y >> bit & 1U) << (2 * bit + 1);
  }
  return z;
}

std::size_t even_bits(std::size_t z) {
  std::size_t out = 0;
  for (std::size_t bit = 0; bit < kSquareLevels; ++bit) out |= (z >> (2 * bit) & 1U) << bit;
  return out;
}

// The best sets of a node's parts together.
std::int64_t of_parts(const std::vector<std::int64_t>& below, std::size_t node) {
  const std::int64_t* const parts = below.data() + 4 * node;
  return parts[0] + parts[1] + parts[2] + parts[3];
}

}  // namespace

SquareChoice::Total SquareChoice::Solution::total(std::size_t level, std::size_t node) const {
  const std::int64_t best = levels[level][node], count = -best & (kUnit - 1);
  return {count, (best + count) / kUnit + price * count};
}

// Of a node that takes some square.
bool SquareChoice::Solution::whole(std::size_t level, std::size_t node) const {
  return level == 0 || levels[level][node] > of_parts(levels[level - 1], node);
}

SquareChoice::SquareChoice(TileGrid grid, int levels)
    : top_(static_cast<std::size_t>(std::clamp(levels, 1, kSquareLevels)) - 1), block_(std::min(top_, kBlockLevel)) {
  const auto cols = static_cast<std::size_t>(grid.cols), rows = static_cast<std::size_t>(grid.rows);
  const std::size_t side = std::size_t{1} << top_, tree_tiles = side * side;
  tree_cols_ = (cols + side - 1) / side;
  trees_ = tree_cols_ * ((rows + side - 1) / side);
  tiles_.assign(trees_ * tree_tiles, -1);
  for (std::size_t y = 0; y < rows; ++y) {
    for (std::size_t x = 0; x < cols; ++x) {
      const std::size_t tree = y / side * tree_cols_ + x / side;
      tiles_[tree * tree_tiles + z_order(x % side, y % side)] = static_cast<std::int32_t>(y * cols + x);
    }
  }
  for (std::size_t level = 0; level <= top_; ++level) {
    const std::size_t nodes = trees_ * tree_tiles >> 2 * level;
    gains_[level].resize(nodes);
    for (Solution* solution : {&many_, &few_}) solution->levels[level].resize(nodes);
  }
  most_.resize(gains_[block_].size());
  at_many_.resize(trees_);
  at_few_.resize(trees_);
  tried_.resize(trees_);
  open_.reserve(trees_);
  squares_.reserve(cols * rows);
}

void SquareChoice::exclude(const Square& square) {
  const auto level = static_cast<std::size_t>(square.level), depth = top_ - level, side = std::size_t{1} << depth;
  const auto x = static_cast<std::size_t>(square.x), y = static_cast<std::size_t>(square.y);
  excluded_[level].push_back(((y / side * tree_cols_ + x / side) << 2 * depth) + z_order(x % side, y % side));
}

void SquareChoice::rate(const TileErrors& errors, std::span<const Weight> weights) {
  most_gain_ = 0;
  constexpr std::array kRate{&SquareChoice::rate_levels<0>, &SquareChoice::rate_levels<1>,
                             &SquareChoice::rate_levels<2>, &SquareChoice::rate_levels<3>,
                             &SquareChoice::rate_levels<4>};
  static_assert(kRate.size() == kSquareLevels);
  (this->*kRate[top_])(errors, weights);
  for (std::size_t level = 0; level <= top_; ++level) {
    for (const std::size_t node : excluded_[level]) gains_[level][node] = 0;
  }
}

// A node's last part completes it.
template <std::size_t kTop>
void SquareChoice::rate_levels(const TileErrors& errors, std::span<const Weight> weights) {
  std::array<std::int64_t, kTop + 1> gains{};
  std::int64_t most = 0;
  const auto finish = [&](std::size_t level, std::size_t node) {
    const std::int64_t gain = std::exchange(gains[level], 0) * kUnit;
    gains_[level][node] = gain;
    most = std::max(most, gain);
    if (level == std::min(kTop, kBlockLevel)) most_[node] = most;
    if (level >= std::min(kTop, kBlockLevel)) most_gain_ = std::max(most_gain_, std::exchange(most, 0) / kUnit);
  };
  for (std::size_t node = 0; node < tiles_.size(); ++node) {
    if (tiles_[node] >= 0) {
      const auto tile = static_cast<std::size_t>(tiles_[node]);
      const std::int64_t weight = weights.empty() ? kFullWeight : weights[tile];
      const std::int64_t held = errors.held[tile];
      gains[0] = held * weight >> 16;
      for (std::size_t level = 1; level <= kTop; ++level) {
        gains[level] += (held - errors.means[level - 1][tile]) * weight >> 16;
      }
    }
    finish(0, node);
    for (std::size_t level = 1; level <= kTop && (node + 1) % (std::size_t{1} << 2 * level) == 0; ++level) {
      finish(level, node >> 2 * level);
    }
  }
}

// Nodes [first, first + count) of a level, at the solution's price; those of the level below are solved.
void SquareChoice::solve_nodes(std::size_t level, std::size_t first, std::size_t count, Solution& out) const {
  const std::int64_t* const gains = gains_[level].data();
  const std::int64_t cost = out.price * kUnit + 1;
  std::int64_t* const best = out.levels[level].data();
  for (std::size_t node = first; node < first + count; ++node) {
    const std::int64_t parts = level == 0 ? 0 : of_parts(out.levels[level - 1], node);
    best[node] = std::max(gains[node] - cost, parts);
  }
}

// One tree. Blocks in which nothing is worth the price are passed by.
void SquareChoice::solve(std::size_t tree, Solution& out) const {
  const std::size_t blocks = std::size_t{1} << 2 * (top_ - block_);
  for (std::size_t block = tree * blocks; block < (tree + 1) * blocks; ++block) {
    if (most_[block] <= out.price * kUnit) {
      out.levels[block_][block] = 0;
      continue;
    }
    for (std::size_t level = 0; level <= block_; ++level) {
      const std::size_t shift = 2 * (block_ - level);
      solve_nodes(level, block << shift, std::size_t{1} << shift, out);
    }
  }
  for (std::size_t level = block_ + 1; level <= top_; ++level) {
    const std::size_t shift = 2 * (top_ - level);
    solve_nodes(level, tree << shift, std::size_t{1} << shift, out);
  }
}

// All trees, at this price. size: as find_prices() has it.
template <typename Size>
std::strong_ordering SquareChoice::try_all(std::int64_t price, const Size& size) {
  few_.price = price;
  Total all;
  for (std::size_t tree = 0; tree < trees_; ++tree) {
    solve(tree, few_);
    all += tried_[tree] = few_.total(top_, tree);
  }
  return size(all);
}

// Solves the trees in open_ at two prices, into many_ and few_: the set of many_ is too large, that of few_ is not, and
// the prices are neighbours. Of the other trees few_ has the set of both. No tree is open if the set of few_ is just
// right, or the least price fits. at_few_: what the trees of few_ have. size: of a set, `greater` is too large and
// `equal` just right; of the empty set `less`.
// The search starts at the last look's price. Where it starts and which prices it tries does not change the sets.
template <typename Size>
void SquareChoice::find_prices(const Size& size) {
  std::int64_t low = 0, high = 0;
  auto tried = std::strong_ordering::less;
  std::int64_t price = price_ > 0 ? std::clamp(price_, kLeastPrice, std::max(most_gain_, kLeastPrice)) : most_gain_ / 4;
  while (true) {
    price = std::max(price, kLeastPrice);
    tried = try_all(price, size);
    (tried > 0 ? low : high) = price;
    std::swap(tried > 0 ? at_many_ : at_few_, tried_);
    if (tried == 0 || (low > 0 && high > 0) || high == kLeastPrice) break;
    if (tried > 0) {
      price = low * kStep;
      if (price < most_gain_) continue;
      high = std::max(most_gain_, low + 1);  // no square is worth it
      std::fill(at_few_.begin(), at_few_.end(), Total{});
      break;
    }
    price = high / kStep;
  }
  open_.clear();
  if (low > 0 && high > 0 && tried != 0) bisect(size, low, high);
  price_ = high;
}

// low doesn't fit, high does, and each tree's sets at both are known. Only trees where these differ are solved again.
// The next price is the one at which both sets are worth the same: the sets in between are worth more there.
template <typename Size>
void SquareChoice::bisect(const Size& size, std::int64_t low, std::int64_t& high) {
  Total settled, many, few;
  open_.resize(trees_);
  std::iota(open_.begin(), open_.end(), std::size_t{0});
  const auto settle = [&] {
    many = few = Total{};
    std::erase_if(open_, [&](std::size_t tree) {
      const bool same = at_few_[tree] == at_many_[tree];
      if (same) settled += at_few_[tree];
      if (!same) many += at_many_[tree], few += at_few_[tree];
      return same;
    });
  };
  settle();
  while (high - low > 1) {
    few_.price = std::clamp((many.gain - few.gain) / (many.count - few.count), low + 1, high - 1);
    Total all = settled;
    for (const std::size_t tree : open_) {
      solve(tree, few_);
      all += tried_[tree] = few_.total(top_, tree);
    }
    const auto tried = size(all);
    (tried > 0 ? low : high) = few_.price;
    for (const std::size_t tree : open_) (tried > 0 ? at_many_ : at_few_)[tree] = tried_[tree];
    if (tried == 0) return open_.clear();
    settle();
  }
  many_.price = low;
  few_.price = high;
  for (const std::size_t tree : open_) {
    solve(tree, many_);
    solve(tree, few_);
  }
}

void SquareChoice::add(std::size_t level, std::size_t node) {
  const std::size_t depth = top_ - level, tree = node >> 2 * depth, z = node - (tree << 2 * depth);
  squares_.push_back({static_cast<int>(level), static_cast<int>((tree % tree_cols_ << depth) + even_bits(z)),
                      static_cast<int>((tree / tree_cols_ << depth) + even_bits(z >> 1U))});
}

void SquareChoice::take(const Solution& from, std::size_t level, std::size_t node) {
  if (from.levels[level][node] == 0) return;
  if (from.whole(level, node)) return add(level, node);
  for (std::size_t part = 4 * node; part < 4 * node + 4; ++part) take(from, level - 1, part);
}

// decide: of a node's gain and squares beyond those of few_, and whether its parts may be decided one by one.
// none: few_ takes nothing here, and its nodes were passed by.
template <typename Decide>
void SquareChoice::mix_node(std::size_t level, std::size_t node, bool none, const Decide& decide) {
  const Total many = many_.total(level, node);
  if (many.count == 0) return;
  const Total few = none ? Total{} : few_.total(level, node);
  none = few.count == 0;
  const bool parts = !many_.whole(level, node) && (none || !few_.whole(level, node));
  switch (decide(Total{many.count - few.count, many.gain - few.gain}, parts)) {
    case Take::kMany:
      return take(many_, level, node);
    case Take::kFew:
      if (!none) take(few_, level, node);
      return;
    case Take::kParts:
      for (std::size_t part = 4 * node; part < 4 * node + 4; ++part) mix_node(level - 1, part, none, decide);
  }
}

template <typename Decide>
std::span<const Square> SquareChoice::mix(const Decide& decide) {
  squares_.clear();
  auto open = open_.begin();
  for (std::size_t tree = 0; tree < trees_; ++tree) {
    if (open == open_.end() || *open != tree) {
      take(few_, top_, tree);
    } else {
      mix_node(top_, tree, false, decide);
      ++open;
    }
  }
  return squares_;
}

std::span<const Square> SquareChoice::at_most(int squares) {
  find_prices([&](const Total& total) { return total.count <=> squares; });
  std::int64_t left = squares;
  for (const Total& few : at_few_) left -= few.count;
  return mix([&](const Total& more, bool parts) {
    if (more.count > left) return parts ? Take::kParts : Take::kFew;
    left -= more.count;
    return Take::kMany;
  });
}

std::span<const Square> SquareChoice::that_gain(std::int64_t gain) {
  if (gain <= 0) return {};
  find_prices([&](const Total& total) {
    return total.gain >= gain ? std::strong_ordering::greater : std::strong_ordering::less;
  });
  std::int64_t missing = gain;
  for (const Total& few : at_few_) missing -= few.gain;
  return mix([&](const Total& more, bool parts) {
    if (missing <= 0) return Take::kFew;
    if (parts) return Take::kParts;
    missing -= more.gain;
    return Take::kMany;
  });
}

}  // namespace saccade
