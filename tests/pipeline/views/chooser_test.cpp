// What is sent for a budget, what is not sent again, and the pixels of it, against the frame itself.
#include "pipeline/views/chooser.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "kernels/cpu/texture.h"

namespace saccade {
namespace {

constexpr const char* kModels[] = {"qwen2.5-vl", "qwen3-vl", "claude", "gpt-4o", "internvl", "gemma-3", "gemini-2.5"};

// A screen: an even ground with blocks of detail, in RGBA.
class Screen {
 public:
  Screen(int width, int height)
      : width_(width), height_(height), pixels_(static_cast<std::size_t>(width * height) * 4) {
    std::fill(pixels_.begin(), pixels_.end(), std::uint8_t{255});
    draw({0, 0, width, height}, 1);
  }

  // Strokes: dark and light pixels by chance, one in `of` of them dark.
  void draw(const FrameBox& box, unsigned of) {
    for (int y = box.y; y < std::min(box.y + box.height, height_); ++y) {
      for (int x = box.x; x < std::min(box.x + box.width, width_); ++x) {
        const auto value = static_cast<std::uint8_t>(of == 1 ? 230 : rng_() % of == 0 ? 20 : 230);
        for (int c = 0; c < 3; ++c) pixels_[index(x, y) + static_cast<std::size_t>(c)] = value;
      }
    }
  }

  FrameView view(std::int64_t pts_ns) const {
    FrameView frame;
    frame.layout = PixelLayout::kRgba8;
    frame.width_px = width_;
    frame.height_px = height_;
    frame.planes[0] = {pixels_.data(), std::ptrdiff_t{4} * width_};
    frame.pts_ns = pts_ns;
    return frame;
  }

  // The mean of the pixels of a texel, rounded; beyond the frame its edge counts.
  int mean(int x, int y, int level, int channel) const {
    std::int64_t sum = 0;
    const int side = 1 << level;
    for (int dy = 0; dy < side; ++dy) {
      for (int dx = 0; dx < side; ++dx) {
        const int px = std::min(x + dx, width_ - 1), py = std::min(y + dy, height_ - 1);
        sum += pixels_[index(px, py) + static_cast<std::size_t>(channel)];
      }
    }
    return static_cast<int>((sum + (side * side) / 2) / (side * side));
  }

  int width() const { return width_; }
  int height() const { return height_; }

 private:
  std::size_t index(int x, int y) const { return static_cast<std::size_t>(y * width_ + x) * 4; }

  int width_, height_;
  std::vector<std::uint8_t> pixels_;
  std::mt19937 rng_{29};
};

class Receiver {
 public:
  explicit Receiver(const Screen& screen)
      : texture_(make_pyramid_layout(screen.width(), screen.height(), TextureFormat::kRgba8)) {
    texture_.update(screen.view(0));
    chooser_ = std::make_unique<ViewChooser>(texture_.make_held_picture({}), texture_.layout().tiles,
                                             ImageSize{screen.width(), screen.height()});
  }
  void show(const Screen& screen, std::int64_t pts_ns) {
    texture_.update(screen.view(pts_ns));
    chooser_->note(pts_ns, texture_.damage());
  }
  std::vector<View> choose(const char* model, int tokens) {
    return chooser_->choose({.rule = find_rule(model)->rule, .tokens = tokens, .look = {}});
  }
  std::vector<View> choose_new(int tokens) {
    return chooser_->choose({.rule = find_rule("qwen2.5-vl")->rule, .tokens = tokens, .new_only = true, .look = {}});
  }
  std::vector<std::uint8_t> read(const View& view) {
    std::vector<std::uint8_t> rgb(static_cast<std::size_t>(view.size.width * view.size.height) * 3);
    read_view(texture_, {}, view, rgb);
    return rgb;
  }
  ViewChooser& chooser() { return *chooser_; }

 private:
  CpuTexture texture_;
  std::unique_ptr<ViewChooser> chooser_;
};

int sum_of_tokens(std::span<const View> views) {
  int sum = 0;
  for (const View& view : views) sum += view.tokens;
  return sum;
}

bool covers(const View& view, const FrameBox& box) {
  return view.level == 0 && view.box.x <= box.x && view.box.y <= box.y &&
         view.box.x + view.box.width >= box.x + box.width && view.box.y + view.box.height >= box.y + box.height;
}

Screen desktop() {
  Screen screen(1913, 1077);
  screen.draw({96, 80, 400, 60}, 4);
  screen.draw({1300, 700, 300, 200}, 4);
  screen.draw({40, 1000, 80, 30}, 4);
  return screen;
}

TEST(Views, AnyBudget_HoldsInSizesThatTheServerKeeps) {
  for (const char* model : kModels) {
    for (const int tokens : {260, 900, 1568, 4000}) {
      const Screen screen = desktop();
      Receiver receiver(screen);
      const auto views = receiver.choose(model, tokens);
      SCOPED_TRACE(std::string(model) + " " + std::to_string(tokens));
      EXPECT_LE(sum_of_tokens(views), tokens);
      EXPECT_LE(views.size(), 20U);
      for (const View& view : views) {
        EXPECT_TRUE(is_kept(find_rule(model)->rule, view.size));
        EXPECT_EQ(view.tokens, tokens_of(find_rule(model)->rule, view.size));
        EXPECT_EQ(view.box.width, view.size.width << view.level);
        EXPECT_EQ(view.box.x % (1 << view.level), 0);
      }
    }
  }
}

TEST(Views, StillFrame_EndsWhenAllWasSent) {
  const Screen screen = desktop();
  Receiver receiver(screen);
  auto views = receiver.choose("qwen2.5-vl", 700);
  ASSERT_FALSE(views.empty());
  EXPECT_EQ(views[0].reason, ViewReason::kOverview);
  EXPECT_LE(views[0].box.x, 0);
  EXPECT_GE(views[0].box.width, screen.width());
  EXPECT_GE(views[0].box.height, screen.height());
  for (int look = 0; look < 20 && !views.empty(); ++look) views = receiver.choose("qwen2.5-vl", 700);
  EXPECT_TRUE(views.empty());
}

TEST(Views, Change_IsSentAndNothingElse) {
  Screen screen = desktop();
  Receiver receiver(screen);
  while (!receiver.choose("qwen2.5-vl", 1568).empty()) continue;
  const FrameBox fresh{1017, 333, 210, 23};
  screen.draw(fresh, 4);
  receiver.show(screen, 1'000'000'000);
  const auto views = receiver.choose("qwen2.5-vl", 1568);
  ASSERT_EQ(views.size(), 1U);
  EXPECT_TRUE(covers(views[0], fresh));
  EXPECT_EQ(views[0].reason, ViewReason::kNew);
  EXPECT_LE(views[0].tokens, 40);  // 10 x 3 units of 28 px hold 16 px tiles of it
  EXPECT_TRUE(receiver.choose("qwen2.5-vl", 1568).empty());
}

TEST(Views, NewThings_ComeBeforeWhatWasNeverSent) {
  Screen screen = desktop();
  screen.draw({0, 200, 1913, 400}, 4);
  Receiver receiver(screen);
  receiver.choose("qwen2.5-vl", 300);
  const FrameBox fresh{1600, 1000, 200, 16};
  screen.draw(fresh, 4);
  receiver.show(screen, 1'000'000'000);
  const auto views = receiver.choose("qwen2.5-vl", 100);
  EXPECT_TRUE(std::any_of(views.begin(), views.end(), [&](const View& view) { return covers(view, fresh); }));
}

TEST(Views, PointLookedAt_ComesFirst) {
  Screen screen(1920, 1080);
  screen.draw({100, 100, 300, 200}, 4);
  screen.draw({1500, 800, 300, 200}, 4);
  Receiver receiver(screen);
  receiver.choose("qwen2.5-vl", 70);
  shared::FoveaParams fovea{};
  fovea.unit_per_px_x = fovea.unit_per_px_y = 0.03f;
  fovea.e0 = fovea.m0 = 2.3f;
  const auto views = receiver.chooser().choose(
      {.rule = find_rule("qwen2.5-vl")->rule, .tokens = 120, .look = ViewRequest::Look{{1600, 900}, fovea}});
  ASSERT_FALSE(views.empty());
  EXPECT_TRUE(std::any_of(views.begin(), views.end(), [](const View& view) {
    return view.reason == ViewReason::kLookedAt && contains(view.box, {1600, 900});
  }));
}

TEST(Views, LostParts_AreSentAgain) {
  const Screen screen = desktop();
  Receiver receiver(screen);
  while (!receiver.choose("qwen2.5-vl", 1568).empty()) continue;
  receiver.chooser().forget({6, 5, 4, 3});
  EXPECT_EQ(receiver.choose("qwen2.5-vl", 1568).size(), 1U);
  receiver.chooser().forget();
  EXPECT_EQ(receiver.choose("qwen2.5-vl", 1568)[0].reason, ViewReason::kOverview);
}

TEST(Views, AllWasLost_BeginsWithTheOverview) {
  Screen screen(640, 400);
  screen.draw({0, 0, 640, 400}, 4);  // an overview shows little of it
  Receiver receiver(screen);
  while (!receiver.choose("qwen2.5-vl", 1568).empty()) continue;
  receiver.chooser().forget({0, 0, 40, 25});
  EXPECT_EQ(receiver.choose("qwen2.5-vl", 200)[0].reason, ViewReason::kOverview);
}

TEST(NewViews, StillFrame_IsAnOverviewAlone) {
  const Screen screen = desktop();
  Receiver receiver(screen);
  const auto first = receiver.choose_new(700);
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0].reason, ViewReason::kOverview);
  EXPECT_GT(first[0].level, 0);
  EXPECT_TRUE(receiver.choose_new(700).empty());
}

TEST(NewViews, Change_TakesNoTokensForOldDetail) {
  Screen screen = desktop();
  Receiver receiver(screen);
  receiver.choose_new(700);
  const FrameBox fresh{1017, 333, 210, 23};
  screen.draw(fresh, 4);
  receiver.show(screen, 1'000'000'000);
  const auto views = receiver.choose_new(1568);
  ASSERT_EQ(views.size(), 1U);
  EXPECT_TRUE(covers(views[0], fresh));
  EXPECT_EQ(views[0].reason, ViewReason::kNew);
  EXPECT_LE(views[0].tokens, 40);
  EXPECT_TRUE(receiver.choose_new(1568).empty());
}

TEST(NewViews, FrameThatChangesEverywhere_IsSentUntilItIsRead) {
  Screen screen(1280, 720);
  Receiver receiver(screen);
  receiver.choose_new(700);
  screen.draw({0, 0, 1280, 720}, 4);
  receiver.show(screen, 1'000'000'000);
  std::vector<View> sent;
  for (auto views = receiver.choose_new(700); !views.empty(); views = receiver.choose_new(700)) {
    ASSERT_LE(sum_of_tokens(views), 700);
    sent.insert(sent.end(), views.begin(), views.end());
  }
  for (int y = 8; y < 720; y += 16) {
    for (int x = 8; x < 1280; x += 16) {
      EXPECT_TRUE(
          std::any_of(sent.begin(), sent.end(),
                      [&](const View& view) {
                        return view.level == 0 && contains(view.box, {static_cast<double>(x), static_cast<double>(y)});
                      }))
          << x << ", " << y;
    }
  }
}

TEST(NewViews, LostParts_AreSentAgain) {
  const FrameBox fresh{960, 320, 208, 32};
  Screen screen = desktop();
  Receiver receiver(screen);
  receiver.choose_new(700);
  screen.draw(fresh, 4);
  receiver.show(screen, 1'000'000'000);
  ASSERT_EQ(receiver.choose_new(1568).size(), 1U);
  receiver.chooser().forget({60, 20, 13, 2});
  const auto again = receiver.choose_new(1568);
  ASSERT_EQ(again.size(), 1U);
  EXPECT_TRUE(covers(again[0], fresh));
  EXPECT_TRUE(receiver.choose_new(1568).empty());
}

TEST(NewViews, ChangeBeforeAllWasLost_FollowsTheOverview) {
  const FrameBox fresh{960, 320, 208, 32};
  Screen screen = desktop();
  Receiver receiver(screen);
  receiver.choose_new(700);
  screen.draw(fresh, 4);
  receiver.show(screen, 1'000'000'000);
  receiver.chooser().forget();
  const auto first = receiver.choose_new(700);
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0].reason, ViewReason::kOverview);
  const auto second = receiver.choose_new(700);
  ASSERT_EQ(second.size(), 1U);
  EXPECT_TRUE(covers(second[0], fresh));
}

TEST(Views, Pixels_AreExactMeansOfTheFrame) {
  const Screen screen = desktop();
  Receiver receiver(screen);
  auto views = receiver.choose("qwen2.5-vl", 900);
  const auto more = receiver.choose("qwen2.5-vl", 900);
  views.insert(views.end(), more.begin(), more.end());
  bool fine = false;
  for (const View& view : views) {
    fine |= view.level == 0;
    const auto rgb = receiver.read(view);
    for (int y = 0; y < view.size.height; ++y) {
      for (int x = 0; x < view.size.width; ++x) {
        const int px = view.box.x + (x << view.level), py = view.box.y + (y << view.level);
        const bool inside = px < screen.width() && py < screen.height();
        const int expected = inside ? screen.mean(px, py, view.level, 1) : 128;
        ASSERT_EQ(rgb[static_cast<std::size_t>(y * view.size.width + x) * 3 + 1], expected)
            << "level " << view.level << " " << x << ", " << y;
      }
    }
  }
  EXPECT_TRUE(fine);
}

}  // namespace
}  // namespace saccade
