// The policy that reads: what appears comes first, what was read is left, and nothing depends on the backend.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "pipeline/gaze/scanpath/scanpath.h"
#include "scene.h"

namespace saccade {
namespace {

constexpr std::int64_t kFixationNs = 250'000'000;

FrameGeometry geometry_of(const Scene& scene, int levels = kDefaultLevels) {
  return {scene.width_px(), scene.height_px(), 1.0, levels};
}

// A scene, a lattice with a fovea of 128 px and the eye on it, asked at each fixation.
class Reader {
 public:
  Reader(Scene& scene, const ScanpathConfig& config = {}, int levels = kDefaultLevels)
      : scene_(scene), geometry_(geometry_of(scene, levels)), path_(make_scanpath(config, geometry_)) {
    LatticeConfig budget;
    budget.shape = TokenBudget{.tokens = 300, .fovea = {}};
    if (levels == kDefaultLevels && scene.width_px() >= 640) {
      budget.shape = TokenBudget{.tokens = 300, .fovea = FoveaWidth{128}};
      lattice_ = make_lattice(budget, geometry_);
    }
  }
  std::pair<double, double> next() {
    const SceneView view{&scene_.damage(), &scene_.pyramid(), geometry_, n_, 0, lattice_.get()};
    Gaze gaze = path_->step(n_ * kFixationNs, view);
    scene_.damage().clear();
    if (gaze.in_flight) gaze = path_->step(n_ * kFixationNs + kFixationNs / 2, view);
    ++n_;
    return {static_cast<double>(gaze.u) * scene_.width_px(), static_cast<double>(gaze.v) * scene_.height_px()};
  }

 private:
  Scene& scene_;
  FrameGeometry geometry_;
  std::unique_ptr<Scanpath> path_;
  std::unique_ptr<Lattice> lattice_;
  std::int64_t n_ = 0;
};

// Strokes three pixels wide and far apart in a box of 64 x 24 from (x, y) on, as letters have them.
void write_word(Scene& scene, int x, int y, std::uint8_t ink) {
  const auto width = static_cast<std::size_t>(scene.width_px());
  for (int row = y; row < y + 24; ++row) {
    for (int col = x; col < x + 64; ++col) {
      if ((col - x) % 9 < 3) {
        scene.plane(0)[static_cast<std::size_t>(row) * width + static_cast<std::size_t>(col)] = ink;
      }
      scene.damage().set(row / kTilePx * scene.damage().grid().cols + col / kTilePx, 16 * 16 * 20);
    }
  }
  scene.upload();
}

// Noise of many sizes, as a texture has it.
void draw_texture(Scene& scene, unsigned seed, int contrast) {
  std::mt19937 random(seed);
  for (auto& sample : scene.plane(0)) sample = static_cast<std::uint8_t>(128 - contrast / 2 + random() % contrast);
  for (int p : {1, 2}) {
    std::fill(scene.plane(static_cast<std::size_t>(p)).begin(), scene.plane(static_cast<std::size_t>(p)).end(), 128);
  }
  scene.upload_all();
}

// Whether the fovea of 128 px around a place holds the word at (x, y).
bool holds(std::pair<double, double> place, int x, int y) {
  return std::abs(place.first - (x + 32)) <= 40 && std::abs(place.second - (y + 12)) <= 56;
}

// How often each word is looked at, in as many fixations as there are words.
std::vector<int> times_read(Reader& reader, const std::vector<std::pair<int, int>>& words) {
  std::vector<int> times(words.size());
  for (std::size_t n = 0; n < words.size(); ++n) {
    const auto place = reader.next();
    for (std::size_t w = 0; w < words.size(); ++w) times[w] += holds(place, words[w].first, words[w].second);
  }
  return times;
}

TEST(NoveltyPolicy, WordThatAppears_IsLookedAtNext) {
  for (const unsigned seed : {1U, 2U, 3U}) {
    Scene scene(1280, 720, TextureFormat::kYuv8);
    draw_texture(scene, seed, 60);
    Reader reader(scene);
    for (int n = 0; n < 8; ++n) reader.next();
    std::mt19937 random(seed + 70);
    for (int word = 0; word < 12; ++word) {
      const int x = static_cast<int>(random() % 1200), y = static_cast<int>(random() % 690);
      write_word(scene, x, y, 250);
      const auto place = reader.next();
      EXPECT_TRUE(holds(place, x, y)) << "word " << word << " at " << x << "," << y << ", looked at " << place.first
                                      << "," << place.second;
      reader.next();
    }
  }
}

TEST(NoveltyPolicy, TwoThatAppearAtOnce_AreLookedAtOneAfterTheOther) {
  Scene scene(1280, 720, TextureFormat::kYuv8);
  draw_texture(scene, 5, 40);
  Reader reader(scene);
  for (int n = 0; n < 6; ++n) reader.next();
  write_word(scene, 200, 500, 250);
  write_word(scene, 1000, 100, 5);
  const auto first = reader.next(), second = reader.next();
  EXPECT_TRUE(holds(first, 200, 500) || holds(first, 1000, 100));
  EXPECT_TRUE(holds(second, 200, 500) || holds(second, 1000, 100));
  EXPECT_GT(std::abs(first.first - second.first), 400);
}

TEST(NoveltyPolicy, WordsOfAStillPage_AreAllReadAndNoneTwice) {
  Scene scene(1280, 720, TextureFormat::kYuv8);
  scene.fill(200);
  scene.upload_all();
  const std::vector<std::pair<int, int>> words{{100, 100}, {600, 90}, {1100, 120}, {110, 600}, {590, 350}, {1080, 610}};
  for (const auto& [x, y] : words) write_word(scene, x, y, 10);
  Reader reader(scene);
  EXPECT_THAT(times_read(reader, words), ::testing::Each(1));
}

TEST(NoveltyPolicy, WordThatChanges_IsLookedAtAgain) {
  Scene scene(1280, 720, TextureFormat::kYuv8);
  scene.fill(200);
  scene.upload_all();
  Reader reader(scene);
  write_word(scene, 300, 300, 10);
  write_word(scene, 900, 500, 10);
  for (int n = 0; n < 12; ++n) reader.next();
  write_word(scene, 303, 300, 10);  // other strokes between the old ones
  EXPECT_TRUE(holds(reader.next(), 303, 300));
}

// Squares of 8 pixels at random: as much detail as letters have, and none of their strokes.
void draw_blocks(Scene& scene, int left, int top, int width, int height, std::mt19937& random) {
  const auto pitch = static_cast<std::size_t>(scene.width_px());
  for (int y = top; y < top + height; y += 8) {
    for (int x = left; x < left + width; x += 8) {
      const auto code = static_cast<std::uint8_t>(random());
      for (std::size_t row = 0; row < 8; ++row) {
        std::fill_n(scene.plane(0).begin() + static_cast<std::ptrdiff_t>((static_cast<std::size_t>(y) + row) * pitch +
                                                                         static_cast<std::size_t>(x)),
                    8, code);
      }
      scene.damage().set(y / kTilePx * scene.damage().grid().cols + x / kTilePx, 16 * 16 * 20);
    }
  }
}

TEST(NoveltyPolicy, PlaceThatAlwaysChanges_IsLeftForWhatAppears) {
  for (const unsigned seed : {1U, 2U, 3U}) {
    Scene scene(1280, 720, TextureFormat::kYuv8);
    draw_texture(scene, seed, 60);
    Reader reader(scene);
    std::mt19937 random(seed);
    const auto flicker = [&] {
      draw_blocks(scene, 480, 320, 256, 160, random);
      scene.upload();
    };
    for (int n = 0; n < 12; ++n) {
      flicker();
      reader.next();
    }
    for (int word = 0; word < 8; ++word) {
      const int x = static_cast<int>(random() % 1200),
                y = static_cast<int>(word % 2 == 0 ? random() % 240 : 530 + random() % 160);
      flicker();
      write_word(scene, x, y, 250);
      EXPECT_TRUE(holds(reader.next(), x, y)) << "word " << word << " at " << x << "," << y;
      flicker();
      reader.next();
    }
  }
}

TEST(NoveltyPolicy, LettersAmongStrongTexture_ComeFirst) {
  Scene scene(1280, 720, TextureFormat::kYuv8);
  scene.fill(128);
  std::mt19937 random(7);
  draw_blocks(scene, 0, 0, 1280, 400, random);
  scene.upload_all();
  const std::vector<std::pair<int, int>> words{{100, 600}, {600, 500}, {1100, 640}};
  for (const auto& [x, y] : words) write_word(scene, x, y, 250);
  Reader reader(scene);
  EXPECT_THAT(times_read(reader, words), ::testing::Each(1));
}

// Three words that drift are letters that appear where others vanish; a fourth that is new is an onset.
TEST(NoveltyPolicy, WordThatAppearsAmongMovingOnes_ComesFirst) {
  Scene scene(1280, 720, TextureFormat::kYuv8);
  Reader reader(scene);
  const auto draw = [&](int look) {
    scene.fill(128);
    scene.damage().set_all();
    for (const int y : {100, 300, 500}) write_word(scene, 100 + 20 * look + y, y, 250);
  };
  int look = 0;
  for (; look < 8; ++look) {
    draw(look);
    reader.next();
  }
  for (int word = 0; word < 4; ++word) {
    const int x = 150 + 250 * word, y = 620;
    draw(look++);
    write_word(scene, x, y, 250);
    EXPECT_TRUE(holds(reader.next(), x, y)) << "word " << word;
    draw(look++);
    reader.next();
  }
}

// What moves about appears somewhere else at each look; what stands there unread must not wait for ever.
TEST(NoveltyPolicy, WordLeftForAnother_IsReadThoughOthersKeepAppearing) {
  Scene scene(1280, 720, TextureFormat::kYuv8);
  scene.fill(128);
  scene.upload_all();
  Reader reader(scene);
  std::mt19937 random(11);
  reader.next();
  for (const int x : {100, 500, 900}) write_word(scene, x, 600, 250);
  std::vector<int> times(3);
  for (int n = 0; n < 6; ++n) {
    scene.fill(128);
    for (const int x : {100, 500, 900}) write_word(scene, x, 600, 250);
    draw_blocks(scene, 64 * n, 64 * n, 64, 64, random);
    scene.upload();
    const auto place = reader.next();
    for (std::size_t w = 0; w < 3; ++w) times[w] += holds(place, 100 + 400 * static_cast<int>(w), 600);
  }
  EXPECT_THAT(times, ::testing::Each(::testing::Ge(1)));
}

TEST(NoveltyPolicy, IgnoredRegion_IsNeverLookedAt) {
  Scene scene(1280, 720, TextureFormat::kYuv8);
  draw_texture(scene, 9, 40);
  ScanpathConfig config;
  config.ignore = parse_ignore("0,0,640,720");
  Reader reader(scene, config);
  std::mt19937 random(3);
  for (int n = 0; n < 40; ++n) {
    write_word(scene, static_cast<int>(random() % 1200), static_cast<int>(random() % 690), n % 2 == 0 ? 250 : 5);
    EXPECT_GE(reader.next().first, 640);
  }
}

TEST(NoveltyPolicy, FlatPicture_IsRoamedOver) {
  Scene scene(640, 480, TextureFormat::kYuv8);
  scene.fill(90);
  scene.upload_all();
  Reader reader(scene);
  std::set<std::pair<double, double>> places;
  for (int n = 0; n < 20; ++n) places.insert(reader.next());
  EXPECT_GE(places.size(), 8U);
}

TEST(NoveltyPolicy, SameInput_RepeatsToTheBit) {
  const auto places = [](TextureFormat format) {
    Scene scene(161, 121, format);
    std::mt19937 random(11);
    scene.randomise(random);
    scene.upload_all();
    Reader reader(scene);
    std::vector<std::pair<double, double>> seen;
    for (int n = 0; n < 60; ++n) {
      seen.push_back(reader.next());
      for (int i = 0; i < 5; ++i) {
        scene.damage_tile(static_cast<int>(random() % static_cast<unsigned>(scene.damage().grid().count())), random);
      }
      scene.upload();
    }
    return seen;
  };
  for (const TextureFormat format : {TextureFormat::kYuv8, TextureFormat::kYuv16, TextureFormat::kRgba8}) {
    EXPECT_EQ(places(format), places(format));
  }
}

TEST(NoveltyPolicy, AnySizeFormatLevels_StaysInTheFrame) {
  for (const auto& [width, height] : {std::pair{1, 1}, {2, 2}, {15, 17}, {16, 16}, {161, 121}, {640, 16}, {16, 640}}) {
    for (const TextureFormat format : {TextureFormat::kYuv8, TextureFormat::kYuv16, TextureFormat::kRgba8}) {
      for (const int levels : {1, 2, 4, 7, 10}) {
        Scene scene(width, height, format, levels);
        std::mt19937 random(static_cast<unsigned>(width * levels));
        scene.randomise(random);
        scene.upload_all();
        Reader reader(scene, {}, levels);
        for (int n = 0; n < 12; ++n) {
          const auto [x, y] = reader.next();
          EXPECT_TRUE(x >= 0 && x <= width && y >= 0 && y <= height) << width << "x" << height << " " << x << "," << y;
          scene.damage_tile(0, random);
          scene.upload();
        }
      }
    }
  }
}

}  // namespace
}  // namespace saccade
