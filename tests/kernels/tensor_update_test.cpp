// The plain update of a persistent texture of tensors: as a rebuild, bit for bit, in memory of the image's order.
#include "kernels/tensor/update.h"

#include <gtest/gtest.h>

#include <ostream>
#include <random>
#include <vector>

#include "kernels/tensor/by_dtype.h"
#include "tests/support/allocation_counter.h"

namespace saccade::tensor {
namespace {

struct Case {
  Dtype dtype;
  OddSizes odd;
  int width, height, levels;
};

std::ostream& operator<<(std::ostream& out, const Case& at) {
  return out << "dtype " << static_cast<int>(at.dtype) << ", odd " << static_cast<int>(at.odd) << ", " << at.width
             << "x" << at.height << ", " << at.levels << " levels";
}

constexpr int kBatch = 2, kChannels = 3;

// Levels without gaps, and what they lie in.
struct Texture {
  explicit Texture(const Case& at) {
    args.levels = at.levels;
    args.odd = at.odd;
    memory.resize(static_cast<std::size_t>(at.levels));
    for (int level = 0; level < at.levels; ++level) {
      ArrayView& view = args.level[level];
      view.dtype = at.dtype;
      view.batch = kBatch;
      view.channels = kChannels;
      view.width = level_extent(at.width, level, at.odd);
      view.height = level_extent(at.height, level, at.odd);
      view.stride_y = view.width;
      view.stride_c = view.stride_y * view.height;
      view.stride_b = view.stride_c * kChannels;
      auto& bytes = memory[static_cast<std::size_t>(level)];
      bytes.resize(static_cast<std::size_t>(view.stride_b) * kBatch * 8);  // the widest element's
      view.data = bytes.data();
    }
  }
  Texture(const Texture&) = delete;
  Texture& operator=(const Texture&) = delete;

  ReduceArgs args;
  std::vector<std::vector<unsigned char>> memory;
};

// Whole numbers, which every dtype holds.
void fill(const ArrayView& view, std::mt19937& random) {
  by_dtype(view.dtype, [&]<class T>(T) {
    for (std::int64_t k = 0; k < view.stride_b * view.batch; ++k) {
      store(static_cast<Value<T>>(random() % 256), static_cast<T*>(view.data) + k);
    }
  });
}

// A few pixels of each corner and of the middle.
void change(const ArrayView& view) {
  by_dtype(view.dtype, [&]<class T>(T) {
    for (const int y : {0, view.height / 2, view.height - 1}) {
      for (const int x : {0, view.width / 2, view.width - 1}) {
        store(static_cast<Value<T>>(7 + x % 5), static_cast<T*>(view.data) + y * view.stride_y + x);
      }
    }
  });
}

class UpdateOnHost : public testing::TestWithParam<Case> {};

TEST_P(UpdateOnHost, ChangedPixels_GiveTheLevelsOfARebuild) {
  const Case& at = GetParam();
  std::mt19937 random(1);
  Texture texture(at), frame(at);
  fill(texture.args.level[0], random);
  cpu::reduce(texture.args);
  frame.memory[0] = texture.memory[0];
  frame.args.level[0].data = frame.memory[0].data();
  change(frame.args.level[0]);
  cpu::reduce(frame.args);

  // Once with the caller's workspace, where there are more than 7 levels: only what changed is made again.
  Texture other(at);
  other.memory[0] = texture.memory[0];
  other.args.level[0].data = other.memory[0].data();
  std::vector<unsigned char> workspace(reduce_workspace_bytes(other.args));
  other.args.workspace = workspace.data();
  cpu::reduce(other.args);
  std::vector<std::uint8_t> its_tiles(
      static_cast<std::size_t>(kBatch * tiles_across(at.width) * tiles_across(at.height)));
  UpdateArgs with_workspace;
  with_workspace.texture = other.args;
  with_workspace.frame = frame.args.level[0];
  with_workspace.tiles = its_tiles.data();
  cpu::update(with_workspace);
  for (int level = 0; level < at.levels; ++level) {
    EXPECT_EQ(other.memory[static_cast<std::size_t>(level)], frame.memory[static_cast<std::size_t>(level)])
        << "with a workspace, level " << level;
  }

  UpdateArgs args;
  args.texture = texture.args;
  args.frame = frame.args.level[0];
  std::vector<std::uint8_t> tiles(static_cast<std::size_t>(kBatch * tiles_across(at.width) * tiles_across(at.height)));
  args.tiles = tiles.data();
  const long before = test::allocated_bytes();
  cpu::update(args);
  EXPECT_LT(test::allocated_bytes() - before, 16L * kChannels * kBatch * (at.width + 16) * (at.height + 16));
  for (int level = 0; level < at.levels; ++level) {
    EXPECT_EQ(texture.memory[static_cast<std::size_t>(level)], frame.memory[static_cast<std::size_t>(level)])
        << "level " << level;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, UpdateOnHost,
    testing::Values(Case{Dtype::kF32, OddSizes::kFloor, 64, 64, 7}, Case{Dtype::kF32, OddSizes::kEdge, 64, 64, 16},
                    Case{Dtype::kF64, OddSizes::kEdge, 53, 37, 16}, Case{Dtype::kU16, OddSizes::kEdge, 65, 1, 16},
                    Case{Dtype::kU8, OddSizes::kEdge, 53, 37, 8}, Case{Dtype::kU8, OddSizes::kFloor, 129, 130, 8},
                    Case{Dtype::kF16, OddSizes::kEdge, 130, 255, 5}, Case{Dtype::kBf16, OddSizes::kEdge, 17, 15, 3},
                    Case{Dtype::kU8, OddSizes::kEdge, 1, 1, 2}, Case{Dtype::kU8, OddSizes::kEdge, 700, 300, 12},
                    Case{Dtype::kF32, OddSizes::kFloor, 700, 300, 9},
                    Case{Dtype::kU16, OddSizes::kEdge, 257, 511, 10}));

}  // namespace
}  // namespace saccade::tensor
