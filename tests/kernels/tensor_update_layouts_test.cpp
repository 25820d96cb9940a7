// The update of a persistent texture on the host, of frames in any order of memory and on any number of threads: tiles
// and energies are those of the definition, level 0 has what was damaged, and the levels are those of a rebuild.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "kernels/tensor/by_dtype.h"
#include "kernels/tensor/update.h"

namespace saccade::tensor {
namespace {

// [B, C, H, W] in memory of its own.
struct Image {
  ArrayView view;
  std::vector<unsigned char> memory;
};

enum class Layout { kPlanes, kChannelsLast, kFourthLeftOut, kRowsOf40, kColumnsFirst, kBackwards };
constexpr Layout kLayouts[] = {Layout::kPlanes,   Layout::kChannelsLast, Layout::kFourthLeftOut,
                               Layout::kRowsOf40, Layout::kColumnsFirst, Layout::kBackwards};

void make(Image* image, Dtype dtype, int channels, int width, int height, Layout layout) {
  ArrayView& view = image->view;
  view = {nullptr, dtype, 2, channels, height, width};
  const int pixel = layout == Layout::kRowsOf40        ? 40
                    : layout == Layout::kFourthLeftOut ? std::max(4, channels)
                                                       : channels;
  if (layout == Layout::kPlanes || layout == Layout::kBackwards) {
    view.stride_x = layout == Layout::kBackwards ? -1 : 1;
    view.stride_y = width + 3;
    view.stride_c = view.stride_y * height;
  } else if (layout == Layout::kColumnsFirst) {
    view.stride_y = 1;
    view.stride_x = height;
    view.stride_c = view.stride_x * width;
  } else {
    view.stride_c = 1;
    view.stride_x = pixel;
    view.stride_y = view.stride_x * width;
  }
  view.stride_b = std::max(view.stride_c * channels, view.stride_y * height);
  image->memory.assign(static_cast<std::size_t>(view.stride_b * view.batch) * element_bytes(dtype), 0);
  view.data =
      image->memory.data() + (view.stride_x < 0 ? static_cast<std::size_t>(width - 1) * element_bytes(dtype) : 0);
}

template <class T>
T& at(const ArrayView& view, int b, int c, int y, int x) {
  return static_cast<T*>(view.data)[b * view.stride_b + c * view.stride_c + y * view.stride_y + x * view.stride_x];
}

template <class Call>
void for_pixels(const ArrayView& view, const Call& call) {
  for (int b = 0; b < view.batch; ++b) {
    for (int c = 0; c < view.channels; ++c) {
      for (int y = 0; y < view.height; ++y) {
        for (int x = 0; x < view.width; ++x) call(b, c, y, x);
      }
    }
  }
}

struct Case {
  Dtype dtype;
  int channels, width, height, levels;
  double threshold;
  int min_samples;
};

// A texture and its levels, each without gaps.
struct Texture {
  Texture(const Case& of, OddSizes odd) {
    args.levels = of.levels;
    args.odd = odd;
    images.resize(static_cast<std::size_t>(of.levels));
    for (int level = 0; level < of.levels; ++level) {
      Image& image = images[static_cast<std::size_t>(level)];
      make(&image, of.dtype, of.channels, level_extent(of.width, level, odd), level_extent(of.height, level, odd),
           Layout::kPlanes);
      args.level[level] = image.view;
    }
    workspace.resize(reduce_workspace_bytes(args));
    args.workspace = workspace.empty() ? nullptr : workspace.data();
  }
  ReduceArgs args;
  std::vector<Image> images;
  std::vector<unsigned char> workspace;
};

struct Found {
  std::vector<std::uint8_t> tiles;
  std::vector<float> energy;
};

// By the definition, one pixel after the other; writes the tiles that are damaged.
template <class T>
Found truth(const Case& of, const ArrayView& base, const ArrayView& frame) {
  using V = Value<T>;
  Found found;
  for (int b = 0; b < base.batch; ++b) {
    for (int y0 = 0; y0 < base.height; y0 += kTilePx) {
      for (int x0 = 0; x0 < base.width; x0 += kTilePx) {
        V quads[16] = {};
        int over = 0;
        for (int c = 0; c < base.channels; ++c) {
          for (int y = y0; y < std::min(y0 + kTilePx, base.height); ++y) {
            for (int x = x0; x < std::min(x0 + kTilePx, base.width); ++x) {
              const T is = at<T>(frame, b, c, y, x);
              const T was = at<T>(base, b, c, y, x);
              if (std::memcmp(&is, &was, sizeof(T)) == 0) continue;
              const V size = std::fabs(load(is) - load(was));
              quads[(y - y0) / 4 * 4 + (x - x0) / 4] += size;
              over += size <= static_cast<V>(of.threshold) ? 0 : 1;
            }
          }
        }
        const bool damaged = over > of.min_samples;
        float energy = 0;
        for (const V quad : quads) energy += static_cast<float>(quad);
        found.tiles.push_back(damaged ? 1 : 0);
        found.energy.push_back(damaged ? energy : 0);
        for (int c = 0; damaged && c < base.channels; ++c) {
          for (int y = y0; y < std::min(y0 + kTilePx, base.height); ++y) {
            for (int x = x0; x < std::min(x0 + kTilePx, base.width); ++x) {
              at<T>(base, b, c, y, x) = at<T>(frame, b, c, y, x);
            }
          }
        }
      }
    }
  }
  return found;
}

void expect_levels(const Texture& is, const Texture& expected) {
  for (std::size_t level = 0; level < is.images.size(); ++level) {
    EXPECT_EQ(is.images[level].memory, expected.images[level].memory) << "level " << level;
  }
}

// Small numbers and, of floating types, one that is none, infinity and -0.
template <class T>
void fill(const ArrayView& view, std::mt19937& rng) {
  for_pixels(view, [&](int b, int c, int y, int x) {
    const double odd[] = {NAN, INFINITY, -0.0, 0.0};
    const bool is_odd = !std::is_integral_v<T> && rng() % 97 == 0;
    store(static_cast<Value<T>>(is_odd ? odd[rng() % 4] : static_cast<double>(rng() % 200)), &at<T>(view, b, c, y, x));
  });
}

// A rectangle over many tiles, some pixels by a little, and the corners.
template <class T>
void change(const ArrayView& view, std::mt19937& rng) {
  for_pixels(view, [&](int b, int c, int y, int x) {
    const bool corner = (x == 0 || x == view.width - 1) && (y == 0 || y == view.height - 1);
    const bool inside = x > view.width / 3 && x < view.width / 2 && y > 5 && y < view.height / 2;
    T& element = at<T>(view, b, c, y, x);
    if (corner || (inside && b == 0)) {
      store(static_cast<Value<T>>(rng() % 200), &element);
    } else if (rng() % 301 == 0) {
      store(load(element) + Value<T>(1), &element);
    }
  });
}

const Case kCases[] = {
    {Dtype::kU8, 3, 2100, 70, 7, 0, 0},  {Dtype::kU8, 3, 130, 99, 9, 3, 4},    {Dtype::kU8, 1, 65, 33, 4, 1, 0},
    {Dtype::kU16, 2, 97, 40, 7, 0, 0},   {Dtype::kF16, 4, 80, 50, 7, 0.5, 1},  {Dtype::kBf16, 3, 64, 64, 3, 0, 0},
    {Dtype::kF32, 3, 333, 77, 8, 0, 0},  {Dtype::kF32, 40, 50, 34, 7, 2, 0},   {Dtype::kF64, 3, 70, 70, 7, 0, 3},
    {Dtype::kF64, 1, 600, 17, 12, 0, 0}, {Dtype::kF32, 5, 2050, 20, 7, 10, 0}, {Dtype::kU8, 2, 15, 15, 1, 0, 0},
    {Dtype::kU16, 3, 65, 1, 16, 0, 0},   {Dtype::kU8, 3, 1, 1, 2, 0, 0},       {Dtype::kF64, 3, 53, 37, 16, 0, 0},
    {Dtype::kU16, 1, 257, 511, 10, 0, 0}};

TEST(UpdateLayouts, AnyLayoutAndThreads_GiveTheDefinition) {
  for (const Case& of : kCases) {
    for (const Layout layout : kLayouts) {
      for (const OddSizes odd : {OddSizes::kEdge, OddSizes::kFloor}) {
        SCOPED_TRACE(fmt::format("dtype {}, {} channels, {}x{}, {} levels, layout {}, odd {}",
                                 static_cast<int>(of.dtype), of.channels, of.width, of.height, of.levels,
                                 static_cast<int>(layout), static_cast<int>(odd)));
        by_dtype(of.dtype, [&]<class T>(T) {
          std::mt19937 rng(11);
          Image frame;
          make(&frame, of.dtype, of.channels, of.width, of.height, layout);
          fill<T>(frame.view, rng);
          Texture expected(of, odd), first(of, odd);
          for_pixels(frame.view, [&](int b, int c, int y, int x) {
            at<T>(first.args.level[0], b, c, y, x) = at<T>(frame.view, b, c, y, x);
          });
          expected.images[0].memory = first.images[0].memory;
          change<T>(frame.view, rng);
          const Found right = truth<T>(of, expected.args.level[0], frame.view);
          cpu::reduce(expected.args);
          for (const int threads : {1, 3}) {
            Texture texture(of, odd);
            std::memcpy(texture.args.level[0].data, first.args.level[0].data, first.images[0].memory.size());
            cpu::reduce(texture.args);
            Found found;
            found.tiles.resize(right.tiles.size(), 9);
            found.energy.resize(right.energy.size(), -1);
            UpdateArgs args;
            args.texture = texture.args;
            args.frame = frame.view;
            args.threshold = of.threshold;
            args.min_samples = of.min_samples;
            args.tiles = found.tiles.data();
            args.energy = found.energy.data();
            cpu::update(args, threads);
            EXPECT_EQ(found.tiles, right.tiles);
            for (std::size_t k = 0; k < right.energy.size(); ++k) {
              const bool is_number = right.energy[k] == right.energy[k];
              EXPECT_TRUE(is_number ? found.energy[k] == right.energy[k] : found.energy[k] != found.energy[k])
                  << "tile " << k << ": " << found.energy[k] << ", not " << right.energy[k];
            }
            expect_levels(texture, expected);
          }
        });
      }
    }
  }
}

TEST(UpdateLayouts, MaskOfPixels_WritesThoseAlone) {
  for (const Layout layout : kLayouts) {
    for (const std::int64_t step : {1, 2}) {
      SCOPED_TRACE(fmt::format("layout {}, mask's columns {} apart", static_cast<int>(layout), step));
      const Case of{Dtype::kF32, 3, 83, 50, 7, 0, 0};
      std::mt19937 rng(5);
      Image frame;
      make(&frame, of.dtype, of.channels, of.width, of.height, layout);
      fill<float>(frame.view, rng);
      Texture texture(of, OddSizes::kEdge), expected(of, OddSizes::kEdge);
      std::vector<std::uint8_t> mask(static_cast<std::size_t>(2 * of.height * of.width * step));
      UpdateArgs args;
      args.mask_y = of.width * step;
      args.mask_b = args.mask_y * of.height;
      args.mask_x = step;
      for (std::uint8_t& each : mask) each = rng() % 700 == 0 ? 2 : 0;
      std::fill_n(mask.begin() + 20 * args.mask_y, 30 * step, std::uint8_t{1});
      std::vector<std::uint8_t> tiles(2U * static_cast<unsigned>(tiles_across(of.width) * tiles_across(of.height)));
      auto right = tiles;
      for_pixels(frame.view, [&](int b, int c, int y, int x) {
        if (mask[static_cast<std::size_t>(b * args.mask_b + y * args.mask_y + x * step)] == 0) return;
        at<float>(expected.args.level[0], b, c, y, x) = at<float>(frame.view, b, c, y, x);
        const int row = b * tiles_across(of.height) + y / kTilePx;
        right[static_cast<std::size_t>(row * tiles_across(of.width) + x / kTilePx)] = 1;
      });
      cpu::reduce(expected.args);
      cpu::reduce(texture.args);
      args.texture = texture.args;
      args.frame = frame.view;
      args.mask = UpdateMask::kPixels;
      args.mask_data = mask.data();
      args.tiles = tiles.data();
      cpu::update(args, 2);
      EXPECT_EQ(tiles, right);
      expect_levels(texture, expected);
    }
  }
}

}  // namespace
}  // namespace saccade::tensor
