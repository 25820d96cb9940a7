// Tensors on the host: after the first call of its kind, one thread allocates nothing.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <random>
#include <vector>

#include "kernels/tensor/gaussian.h"
#include "kernels/tensor/reduce.h"
#include "kernels/tensor/sample.h"
#include "kernels/tensor/update.h"
#include "tests/support/allocation_counter.h"

namespace saccade::tensor {
namespace {

// How often `call` allocates, the second time.
template <class Call>
long allocations_of(const Call& call) {
  call();
  const long before = test::allocation_count();
  call();
  return test::allocation_count() - before;
}

// A pyramid of one image of floats, two channels, and the memory of its levels.
struct Pyramid {
  static constexpr int kLevels = 9;
  std::array<std::vector<float>, kLevels> data;
  ReduceArgs args;

  explicit Pyramid(int width = 300, int height = 200) {
    args.levels = kLevels;
    args.odd = OddSizes::kEdge;
    std::mt19937 rng(1);
    for (int level = 0; level < kLevels; ++level) {
      const int across = level_extent(width, level, args.odd);
      const int down = level_extent(height, level, args.odd);
      std::vector<float>& texels = data[static_cast<std::size_t>(level)];
      texels.resize(static_cast<std::size_t>(2 * across * down));
      for (float& texel : texels) texel = static_cast<float>(rng() % 256);
      args.level[level] = {texels.data(),      Dtype::kF32,        1,      2, down, across,
                           2L * across * down, 1L * across * down, across, 1};
    }
  }
};

TEST(TensorAllocation, Levels_AreMadeWithout) {
  const Pyramid pyramid;
  EXPECT_EQ(allocations_of([&] { cpu::reduce(pyramid.args); }), 0);
}

TEST(TensorAllocation, Updates_AreMadeWithout) {
  for (const bool workspace : {false, true}) {
    SCOPED_TRACE(workspace);
    Pyramid pyramid;
    std::vector<std::byte> memory(reduce_workspace_bytes(pyramid.args));
    if (workspace) pyramid.args.workspace = memory.data();
    cpu::reduce(pyramid.args);
    std::vector<float> frame = pyramid.data[0];
    std::vector<std::uint8_t> tiles(static_cast<std::size_t>(tiles_across(300) * tiles_across(200)));
    UpdateArgs args;
    args.texture = pyramid.args;
    args.frame = pyramid.args.level[0];
    args.frame.data = frame.data();
    args.tiles = tiles.data();
    EXPECT_EQ(allocations_of([&] {
                frame[299] += 1;
                cpu::update(args);
              }),
              0);
    EXPECT_EQ(tiles[18], 1);
    // the levels are those of a rebuild
    Pyramid fresh;
    fresh.data[0] = frame;
    fresh.args.level[0].data = fresh.data[0].data();
    cpu::reduce(fresh.args);
    EXPECT_EQ(pyramid.data, fresh.data);
  }
}

// In proportion to the image, however many levels there are.
TEST(TensorAllocation, FirstUpdate_TakesNoMoreThanAFewImages) {
  const Pyramid pyramid;
  std::vector<float> frame = pyramid.data[0];
  frame[299] += 1;
  std::vector<std::uint8_t> tiles(static_cast<std::size_t>(tiles_across(300) * tiles_across(200)));
  UpdateArgs args;
  args.texture = pyramid.args;
  args.frame = pyramid.args.level[0];
  args.frame.data = frame.data();
  args.tiles = tiles.data();
  const long before = test::allocated_bytes();
  cpu::update(args);
  EXPECT_LT(test::allocated_bytes() - before, 16L * 2 * (300 + 16) * (200 + 16));
}

TEST(TensorAllocation, Samples_AreTakenWithout) {
  const Pyramid pyramid;
  constexpr int kSize = 100;
  std::vector<float> centers{0.3f, 0.6f}, lod{1.5f}, patch(2 * kSize * kSize);
  SampleArgs args{};
  args.levels = 3;
  for (int level = 0; level < args.levels; ++level) {
    const ArrayView& view = pyramid.args.level[level];
    args.level[level] = {view.data,     view.stride_b, view.stride_c, view.stride_y,
                         view.stride_x, view.width,    view.height};
  }
  args.centers = {centers.data(), 2, 2};
  args.lod = {lod.data(), 1, 1};
  args.patches = {patch.data(), 2L * kSize * kSize, 2L * kSize * kSize, 1L * kSize * kSize, kSize, 1, Dtype::kF32, 0};
  args.dtype = args.coordinates = Dtype::kF32;
  args.batch = args.count = args.max_anisotropy = args.rotate = 1;
  args.channels = 2;
  args.size = kSize;
  args.scale = 1;
  EXPECT_EQ(allocations_of([&] { cpu::sample(args); }), 0);
}

TEST(TensorAllocation, Fields_AreSummedWithout) {
  std::vector<float> x{0.1f, 0.2f, 0.3f}, mean{0.1f, 0.5f}, tril{1, 2}, weight{1, 2, 3, 4}, out(6);
  std::vector<float> to_x(3), to_mean(2), to_tril(2), to_weight(4);
  const GaussianArgs args{x.data(), mean.data(), tril.data(), weight.data(), out.data(), Dtype::kF32, 1, 3,
                          2,        1,           2,           1e30};
  EXPECT_EQ(allocations_of([&] { cpu::gaussian_field(args); }), 0);
  const GaussianGradients gradients{out.data(), to_x.data(), to_mean.data(), to_tril.data(), to_weight.data()};
  EXPECT_EQ(allocations_of([&] { cpu::gaussian_field_backward(args, gradients); }), 0);
}

}  // namespace
}  // namespace saccade::tensor
