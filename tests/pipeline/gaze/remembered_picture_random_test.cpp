// Any sequence of changes, looks and gaps: against the definition, texel by texel and without any shortcut.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>
#include <vector>

#include "pipeline/gaze/novelty/remembered_picture.h"
#include "scene.h"

namespace saccade {
namespace {

constexpr int kSide = 8;   // texels along a tile of level 1
constexpr int kNoise = 8;  // as in Note [Remembered picture]
constexpr int kSameMean = 3;

// Rows and columns of level 1 over whole tiles; beyond the last one is what at() was given.
struct Picture {
  int width = 0, height = 0, beyond = -1;  // -1: the last row and column again
  std::vector<std::uint8_t> texels = std::vector<std::uint8_t>(static_cast<std::size_t>(width * height), 128);
  std::uint8_t& texel(int x, int y) { return texels[static_cast<std::size_t>(y * width + x)]; }
  int at(int x, int y) {
    if (beyond >= 0 && (x >= width || y >= height)) return beyond;
    return texel(std::min(x, width - 1), std::min(y, height - 1));
  }
  int step(int x, int y, int dx, int dy) { return std::max(std::abs(at(x, y) - at(x + dx, y + dy)) - kNoise, 0); }
  int step(int x, int y) { return std::max(step(x, y, 1, 0), step(x, y, 0, 1)); }
  int sum(int left, int top, int side_x, int side_y) {
    int sum = 0;
    for (int y = top; y < top + side_y; ++y) {
      for (int x = left; x < left + side_x; ++x) sum += texel(x, y);
    }
    return sum;
  }
};

class PlainMemory {
 public:
  explicit PlainMemory(TileGrid grid) : grid_(grid), tiles_(static_cast<std::size_t>(grid.count())) {}

  struct Tile {
    bool stale = true;
    float unread = 0, appeared = 0, vanished = 0, strokes = 0;
    int fine[2]{}, coarse[2]{};
  };
  std::vector<Tile>& tiles() { return tiles_; }
  void forget() {
    first_ = true;
    seen_.texels.assign(seen_.texels.size(), 128);
    for (Tile& tile : tiles_) tile.stale = true;
  }
  void note(const Damage& damage) {
    damage.for_each([&](int tile) { tiles_[static_cast<std::size_t>(tile)].stale = true; });
  }
  void read(const Levels& levels) {
    std::swap(now_, before_);
    copy(levels);
    for (int tile = 0; tile < grid_.count(); ++tile) compare(tile % grid_.cols, tile / grid_.cols);
    for (int tile = 0; tile < grid_.count(); ++tile) rate(tile % grid_.cols, tile / grid_.cols);
    first_ = false;
  }
  void see(const PatchPlan& plan) {
    for (const Patch& patch : plan.patches) {
      if (!(patch.coverage > 0)) continue;
      const float half = std::exp2(patch.lod) * static_cast<float>(plan.patch_size) / 4;
      const int side = patch.lod < 1.5f ? 1 : 1 << (static_cast<int>(patch.lod + 0.5f) - 1);
      const auto left = static_cast<int>(std::floor(patch.x_px / 2 - half));
      for (auto y = static_cast<int>(std::floor(patch.y_px / 2 - half)); static_cast<float>(y) < patch.y_px / 2 + half;
           y += side) {
        for (int x = left; static_cast<float>(x) < patch.x_px / 2 + half; x += side) see_square(x, y, side);
      }
    }
  }

 private:
  // Luma of level 1 in 8 bits; without that level, means of four.
  void copy(const Levels& levels) {
    const int level = std::min(levels.layout().levels - 1, 1), side = 2 - level;
    LevelImage image;
    levels.read_level(0, level, image);
    const auto code = [&](int x, int y) -> int {
      const std::size_t i = static_cast<std::size_t>(y * image.width + x);
      const std::uint8_t* const bytes = image.data.data();
      if (image.channels == 4) return (bytes[4 * i] + 2 * bytes[4 * i + 1] + bytes[4 * i + 2] + 2) / 4;
      return image.bytes_per_channel == 2 ? bytes[2 * i + 1] : bytes[i];  // the high byte
    };
    for (int y = 0; y < now_.height; ++y) {
      for (int x = 0; x < now_.width; ++x) {
        int sum = 0;
        for (int i = 0; i < side * side; ++i) sum += code(side * x + i % side, side * y + i / side);
        now_.texel(x, y) = static_cast<std::uint8_t>(side == 1 ? sum : (sum + 2) / 4);
      }
    }
  }
  Tile& tile(int x, int y) { return tiles_[static_cast<std::size_t>(y * grid_.cols + x)]; }

  void compare(int tx, int ty) {
    Tile& one = tile(tx, ty);
    one.appeared = one.vanished = 0;
    if (!one.stale) return;
    one.stale = false;
    int unread = 0, appeared = 0, vanished = 0;
    one.fine[0] = one.fine[1] = 0;
    for (int y = ty * kSide; y < (ty + 1) * kSide; ++y) {
      for (int x = tx * kSide; x < (tx + 1) * kSide; ++x) {
        unread += std::max(now_.step(x, y) - seen_.step(x, y), 0);
        appeared += std::max(now_.step(x, y) - before_.step(x, y), 0);
        vanished += std::max(before_.step(x, y) - now_.step(x, y), 0);
        one.fine[0] += now_.step(x, y, 1, 0);
        one.fine[1] += now_.step(x, y, 0, 1);
      }
    }
    one.unread = static_cast<float>(unread) / (kSide * kSide);
    if (!first_) one.appeared = static_cast<float>(appeared) / (kSide * kSide);
    if (!first_) one.vanished = static_cast<float>(vanished) / (kSide * kSide);
    // Steps between three halves, the last one beyond the frame as the one before.
    const int half = kSide / 2, x = tx * kSide, y = ty * kSide;
    const auto across = [&](int i) { return now_.sum(std::min(x + i * half, now_.width - half), y, half, kSide); };
    const auto down = [&](int i) { return now_.sum(x, std::min(y + i * half, now_.height - half), kSide, half); };
    one.coarse[0] = std::abs(across(0) - across(1)) + std::abs(across(1) - across(2));
    one.coarse[1] = std::abs(down(0) - down(1)) + std::abs(down(1) - down(2));
  }
  void rate(int tx, int ty) {
    int fine[2]{}, coarse[2]{};
    for (int y = std::max(ty - 1, 0); y <= std::min(ty + 1, grid_.rows - 1); ++y) {
      for (int x = std::max(tx - 1, 0); x <= std::min(tx + 1, grid_.cols - 1); ++x) {
        for (int axis = 0; axis < 2; ++axis) {
          fine[axis] += tile(x, y).fine[axis];
          coarse[axis] += tile(x, y).coarse[axis];
        }
      }
    }
    const auto share = [&](int axis) {
      return fine[axis] == 0 ? 0.0f : static_cast<float>(fine[axis]) / static_cast<float>(fine[axis] + coarse[axis]);
    };
    tile(tx, ty).strokes = std::max(share(0), share(1));
  }
  void see_square(int left, int top, int side) {
    const int right = std::min(left + side, now_.width), bottom = std::min(top + side, now_.height);
    left = std::max(left, 0);
    top = std::max(top, 0);
    if (left >= right || top >= bottom) return;
    const int count = (right - left) * (bottom - top);
    const int now = now_.sum(left, top, right - left, bottom - top);
    if (side > 1 && std::abs(now - seen_.sum(left, top, right - left, bottom - top)) <= kSameMean * count) return;
    for (int y = top; y < bottom; ++y) {
      for (int x = left; x < right; ++x) {
        seen_.texel(x, y) = static_cast<std::uint8_t>((now + count / 2) / count);
        tile(x / kSide, y / kSide).stale = true;
      }
    }
  }

  TileGrid grid_;
  std::vector<Tile> tiles_;
  bool first_ = true;
  Picture now_{grid_.cols * kSide, grid_.rows*kSide}, before_ = now_;
  Picture seen_{grid_.cols * kSide, grid_.rows* kSide, 128};
};

// Patches anywhere, of any level: on the grid of their texels or not, apart or one over the other, beyond the frame.
PatchPlan any_plan(std::mt19937& random, const Scene& scene) {
  PatchPlan plan;
  plan.patch_size = 2 * (1 + static_cast<int>(random() % 8));
  const bool aligned = random() % 3 != 0, whole = random() % 4 != 0;
  for (auto left = random() % 12; left > 0; --left) {
    const int level = static_cast<int>(random() % 8);
    const int snap = aligned ? std::max(1 << level, 2) : 1, half = plan.patch_size << level >> 1;
    const auto place = [&](int extent) {
      const int from = static_cast<int>(random() % static_cast<unsigned>(extent + half)) - half;
      return static_cast<float>(from / snap * snap + half);
    };
    plan.patches.push_back({.x_px = place(scene.width_px()),
                            .y_px = place(scene.height_px()),
                            .lod = static_cast<float>(level) + (whole ? 0.0f : 0.3f),
                            .coverage = random() % 9 == 0 ? 0.0f : 1.0f});
  }
  return plan;
}

void expect_same(const RememberedPicture& picture, PlainMemory& plain) {
  double appeared = 0;
  for (std::size_t i = 0; i < plain.tiles().size(); ++i) {
    const PlainMemory::Tile& tile = plain.tiles()[i];
    ASSERT_EQ(picture.unread()[i], tile.unread) << "tile " << i;
    ASSERT_EQ(picture.appeared()[i], tile.appeared) << "tile " << i;
    ASSERT_EQ(picture.vanished()[i], tile.vanished) << "tile " << i;
    ASSERT_EQ(picture.strokes()[i], tile.strokes) << "tile " << i;
    appeared += static_cast<double>(tile.appeared);
  }
  ASSERT_EQ(picture.mean_appeared(), static_cast<float>(appeared / static_cast<double>(plain.tiles().size())));
}

TEST(RememberedPicture, AnySequence_IsAsItsDefinition) {
  constexpr int kSizes[][2] = {{16, 16}, {1, 40}, {97, 33}, {130, 250}, {320, 180}};
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    const auto& size = kSizes[seed % 5];
    constexpr TextureFormat kFormats[] = {TextureFormat::kYuv8, TextureFormat::kYuv16, TextureFormat::kRgba8};
    const int levels = seed % 7 == 3 ? 1 : kDefaultLevels;
    Scene scene(size[0], size[1], seed % 4 == 3 ? kFormats[seed % 3] : TextureFormat::kYuv8, levels);
    scene.randomise(random);
    if (seed % 2 == 0) scene.fill(static_cast<std::uint8_t>(random()));
    scene.upload_all();
    RememberedPicture picture(scene.damage().grid(), {size[0], size[1], 1.0, levels});
    PlainMemory plain(scene.damage().grid());
    for (int look = 0; look < 12; ++look) {
      SCOPED_TRACE(::testing::Message() << "seed " << seed << ", look " << look);
      if (random() % 10 == 0) {
        picture.forget();
        plain.forget();
      }
      for (auto frames = random() % 3; frames > 0; --frames) {
        scene.damage().clear();
        for (auto changes = random() % 6; changes > 0; --changes) {
          scene.damage_tile(static_cast<int>(random() % static_cast<unsigned>(scene.damage().grid().count())), random);
        }
        scene.upload();
        if (random() % 6 == 0) {  // nobody saw what changed
          picture.note(nullptr);
          continue;
        }
        picture.note(&scene.damage());
        plain.note(scene.damage());
      }
      picture.read(scene.pyramid());
      plain.read(scene.pyramid());
      ASSERT_NO_FATAL_FAILURE(expect_same(picture, plain));
      for (auto plans = random() % 3; plans > 0; --plans) {
        const PatchPlan plan = any_plan(random, scene);
        picture.see(plan);
        plain.see(plan);
      }
    }
  }
}

}  // namespace
}  // namespace saccade
