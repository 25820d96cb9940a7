// The panel without a window: it draws, and a mouse on its controls changes the settings.
#include <gtest/gtest.h>
#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/gl/texture.h"
#include "pipeline/gaze/lattice/lattice.h"
#include "tests/support/required.h"
#include "tests/ui/shared_context.h"
#include "ui/panel/overlay.h"
#include "ui/panel/overlay_text.h"
#include "ui/viewer/imgui_layer.h"

namespace saccade::ui {
namespace {

constexpr int kWidth = 1280, kHeight = 720;

class OverlayDraw : public ::testing::Test {
 protected:
  void SetUp() override {
    if (shared_context() == nullptr) {
      testing::skip_or_fail("gl", "no OpenGL context");
      return;
    }
    errors_before_ = shared_context()->error_count();
    color_ = gl::Texture(GL_RGBA8, kWidth, kHeight, 1);
    target_ = gl::Framebuffer(color_, 0);
    layer_ = std::make_unique<ImguiLayer>(Surface::kPictures);
    overlay_ = std::make_unique<Overlay>(settings_);
    stream_.uri = "clip.mp4";
    facts_.stream = &stream_;
    facts_.time.start_pts_ns = 1'000'000'000;
    facts_.time.pts_ns = 3'000'000'000;
    facts_.time.duration_ns = 100'000'000'000;
    facts_.time.seekable = true;
    facts_.pace.budget_ms = 40;
    facts_.cost.recent = {{Stage::kDiff, 1, 2, 3, 100}, {Stage::kFrame, 10, 50, 60, 100}};
    for (int i = 0; i < 300; ++i) facts_.pace.work_ms.push(static_cast<float>(i % 50));
    draw();
    draw();  // sizes settle
  }
  void TearDown() override {
    if (shared_context() == nullptr) return;
    overlay_.reset();
    layer_.reset();
    EXPECT_EQ(shared_context()->error_count(), errors_before_);
    EXPECT_EQ(glGetError(), static_cast<GLenum>(GL_NO_ERROR));
  }

  void draw() {
    target_.bind();
    glViewport(0, 0, kWidth, kHeight);
    glDisable(GL_SCISSOR_TEST);
    glClearColor(0, 0, 1, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    layer_->begin(kWidth, kHeight, 1);
    overlay_->draw(settings_, facts_, requests_);
    layer_->end();
  }

  // Presses and lets go at this share of the control's width.
  void click(std::string_view control, float share = 0.5f) {
    const auto rect = overlay_->control(control);
    ASSERT_TRUE(rect) << control;
    ImGuiIO& io = ImGui::GetIO();
    io.MousePos = {rect->left + share * (rect->right - rect->left), (rect->top + rect->bottom) / 2};
    draw();
    io.MouseDown[0] = true;
    draw();
    io.MouseDown[0] = false;
    draw();
  }

  // Into a field, with Enter.
  void type(std::string_view control, const char* text) {
    constexpr int kEnter = 13;
    ImGuiIO& io = ImGui::GetIO();
    io.KeyMap[ImGuiKey_Enter] = kEnter;
    click(control);
    io.AddInputCharactersUTF8(text);
    draw();
    io.KeysDown[kEnter] = true;
    draw();
    io.KeysDown[kEnter] = false;
    draw();
  }

  std::array<std::uint8_t, 4> pixel(int x, int y) {
    std::array<std::uint8_t, 4> rgba{};
    target_.bind();
    glReadPixels(x, kHeight - 1 - y, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, rgba.data());
    return rgba;
  }
  bool drawn_at(int x, int y) { return pixel(x, y) != std::array<std::uint8_t, 4>{0, 0, 255, 255}; }

  ViewSettings settings_;
  ViewFacts facts_;
  ViewRequests requests_;
  StreamInfo stream_;
  std::unique_ptr<ImguiLayer> layer_;
  std::unique_ptr<Overlay> overlay_;
  gl::Texture color_;
  gl::Framebuffer target_;
  std::int64_t errors_before_ = 0;
};

TEST_F(OverlayDraw, ShownOrHidden_CoversItsPanelsAlone) {
  EXPECT_TRUE(drawn_at(20, 20));
  EXPECT_TRUE(drawn_at(kWidth - 20, 20));
  EXPECT_TRUE(drawn_at(kWidth / 2, kHeight - 10));
  EXPECT_FALSE(drawn_at(kWidth / 2, kHeight / 2));
  settings_.overlay = false;
  draw();
  EXPECT_FALSE(drawn_at(20, 20));
  EXPECT_FALSE(drawn_at(kWidth / 2, kHeight - 10));
  settings_.help = true;
  draw();
  draw();
  EXPECT_TRUE(drawn_at(kWidth / 2, kHeight / 2));
}

TEST_F(OverlayDraw, Panels_LieBesideThePictureOrFold) {
  const PixelBox between = overlay_->picture_area();
  for (const PixelBox& covered : overlay_->covered()) EXPECT_TRUE(intersection(covered, between).empty());
  EXPECT_GE(between.right - between.left, kWidth * 2 / 5);
  click("fold-facts", 0.5f);
  EXPECT_FALSE(settings_.facts_open);
  draw();
  draw();
  EXPECT_EQ(overlay_->picture_area().left, 0);
  EXPECT_EQ(overlay_->picture_area().right, between.right);
  EXPECT_FALSE(drawn_at(40, 200));
  EXPECT_TRUE(drawn_at(20, 14));
  click("fold-settings", 0.5f);
  draw();
  EXPECT_EQ(overlay_->picture_area().right, kWidth);
  click("fold-facts", 0.5f);
  draw();
  EXPECT_EQ(overlay_->picture_area().left, between.left);
  settings_.overlay = false;
  draw();
  EXPECT_EQ(overlay_->picture_area(), (PixelBox{0, 0, kWidth, kHeight}));
}

// Also in a page of 900x500 on a screen of two pixels a point, as a notebook's cell has it.
TEST_F(OverlayDraw, NarrowerWindow_HasOnePanelBesideThePicture) {
  for (const int points_wide : {1280, 900, 760, 640, 600}) {
    for (const int scale : {1, 2}) {
      for (int pass = 0; pass < 3; ++pass) {
        layer_->begin(points_wide * scale, 500 * scale, static_cast<float>(scale));
        overlay_->draw(settings_, facts_, requests_);
        layer_->end();
      }
      const PixelBox area = overlay_->picture_area();
      EXPECT_GE(area.right - area.left, points_wide * scale * 2 / 5) << points_wide << " x " << scale;
      for (const PixelBox& covered : overlay_->covered()) EXPECT_TRUE(intersection(covered, area).empty());
      EXPECT_EQ(area.right < points_wide * scale, points_wide == 1280) << "a second panel, " << points_wide;
      for (const char* name : {"fold-facts", "fold-settings", "save"}) EXPECT_TRUE(overlay_->control(name)) << name;
    }
  }
}

// Over the picture, if there is no room beside it: what lies below shows through, but letters are read.
TEST_F(OverlayDraw, NarrowWindow_HasAPanelOverThePicture) {
  const auto blue_under = [this](int width) {
    target_.bind();
    glViewport(0, 0, kWidth, kHeight);
    glDisable(GL_SCISSOR_TEST);
    for (int pass = 0; pass < 3; ++pass) {
      glClearColor(0, 0, 1, 1);
      glClear(GL_COLOR_BUFFER_BIT);
      layer_->begin(width, kHeight, 1);
      overlay_->draw(settings_, facts_, requests_);
      layer_->end();
    }
    std::array<std::uint8_t, 4> rgba{};
    glReadPixels(11, kHeight - 1 - 300, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, rgba.data());
    return static_cast<int>(rgba[2]);
  };
  const int filled = blue_under(1280);  // beside it
  for (const int width : {1000, 500}) {
    const int through = blue_under(width);
    EXPECT_GT(through, filled + 5) << width;
    EXPECT_LT(through, 60) << width;
  }
  for (const PixelBox& covered : overlay_->covered()) EXPECT_GE(covered.top, kHeight - 40);  // the bar alone
}

// Its titles stand side by side: one is folded so that the other comes up.
TEST_F(OverlayDraw, OnePanel_FoldsItsPartsOneByOne) {
  const auto draw_narrow = [this] {
    for (int pass = 0; pass < 2; ++pass) {
      layer_->begin(900, 500, 1);
      overlay_->draw(settings_, facts_, requests_);
      layer_->end();
    }
  };
  draw_narrow();
  const float below = overlay_->control("threshold")->top;
  settings_.facts_open = false;
  draw_narrow();
  EXPECT_LT(overlay_->control("threshold")->top, below - 200);
  EXPECT_GT(overlay_->picture_area().left, 300);
  settings_.settings_open = false;
  draw_narrow();
  EXPECT_FALSE(overlay_->control("threshold"));
  EXPECT_EQ(overlay_->picture_area().left, 0);
}

// Whatever the window's size: what doesn't fit scrolls.
TEST_F(OverlayDraw, SmallWindows_CutNothing) {
  settings_.help = true;
  for (const auto& [width, height] : {std::pair{640, 360}, {400, 300}, {320, 240}, {200, 150}}) {
    for (int pass = 0; pass < 3; ++pass) {
      layer_->begin(width, height, 1);
      overlay_->draw(settings_, facts_, requests_);
      layer_->end();
    }
    for (const char* name : {"left panel", "keys", "seek bar"}) {
      const ImGuiWindow* window = ImGui::FindWindowByName(name);
      ASSERT_NE(window, nullptr) << name;
      EXPECT_GE(window->Pos.x, 0) << name;
      EXPECT_GE(window->Pos.y, 0) << name;
      EXPECT_LE(window->Pos.x + window->Size.x, static_cast<float>(width)) << name;
      EXPECT_LE(window->Pos.y + window->Size.y, static_cast<float>(height)) << name;
    }
    const ImGuiWindow* keys = ImGui::FindWindowByName("keys");
    EXPECT_GE(keys->ScrollMax.y + keys->Size.y, keys->ContentSize.y) << width;
    EXPECT_GE(keys->ScrollMax.x + keys->Size.x, keys->ContentSize.x) << width;
  }
}

// Whatever height the font got: the panel and what lies beside it are as wide on every release of Dear ImGui.
TEST_F(OverlayDraw, Points_FollowTheScale) {
  for (const float scale : {1.0f, 1.25f, 1.5f, 2.0f}) {
    layer_->begin(kWidth, kHeight, scale);
    EXPECT_FLOAT_EQ(points(100), 100 * scale);
    EXPECT_NEAR(ImGui::GetFontSize(), kFontPoints * scale, 1);
    layer_->end();
  }
}

TEST_F(OverlayDraw, Adaptive_HasSlidersForItsOptions) {
  EXPECT_FALSE(overlay_->control("target-psnr"));
  settings_.pipeline.lattice.shape = AdaptiveShape{.tokens = 273};
  draw();
  draw();
  EXPECT_FALSE(overlay_->control("patches"));
  const auto shape = [this] { return std::get<AdaptiveShape>(settings_.pipeline.lattice.shape); };
  click("tokens", 0.999f);
  EXPECT_EQ(shape().tokens, 4096);
  type("value-tokens", "140");
  type("value-tokens-per-second", "200");
  type("value-target-psnr", "35.5");
  type("value-context", "4000");
  click("eye");
  EXPECT_EQ(shape().tokens, 140);
  EXPECT_EQ(shape().tokens_per_second, 200);
  EXPECT_EQ(shape().target_psnr, 35.5);
  EXPECT_EQ(shape().context, (ContextLength{.value = 4000, .seconds = false}));
  EXPECT_NEAR(shape().eye, 0.5, 0.02);
  for (const char* option : {"reset-tokens-per-second", "reset-target-psnr", "reset-context", "reset-eye"}) {
    click(option);
  }
  EXPECT_EQ(shape(), AdaptiveShape{.tokens = 140});
}

TEST_F(OverlayDraw, AnotherLatticeAndBack_KeepsAdaptivesOptions) {
  const AdaptiveShape tuned{.tokens = 140, .tokens_per_second = 200, .context = ContextLength{30, true}, .eye = 0.25};
  settings_.pipeline.lattice.shape = tuned;
  draw();
  draw();
  const auto choose = [this](int item) {  // of the list of lattices
    click("lattice");
    const ImGuiWindow* const list = ImGui::FindWindowByName("##Combo_00");
    ASSERT_NE(list, nullptr);
    ImGuiIO& io = ImGui::GetIO();
    const float row = ImGui::GetTextLineHeightWithSpacing();
    io.MousePos = {list->Pos.x + 20, list->Pos.y + list->WindowPadding.y + row * (static_cast<float>(item) + 0.5f)};
    for (const bool down : {false, true, false}) {
      io.MouseDown[0] = down;
      draw();
    }
    draw();
  };
  choose(0);
  EXPECT_EQ(lattice_kind(settings_.pipeline.lattice), LatticeKind::kNested);
  choose(3);
  ASSERT_EQ(lattice_kind(settings_.pipeline.lattice), LatticeKind::kAdaptive);
  EXPECT_EQ(std::get<AdaptiveShape>(settings_.pipeline.lattice.shape), tuned);
}

TEST_F(OverlayDraw, ClickOnASlider_SetsItsValue) {
  click("threshold");  // 0 .. 64
  EXPECT_NEAR(settings_.pipeline.diff.threshold, 32, 1);
  EXPECT_TRUE(requests_.configure);
  click("min-samples", 0.999f);
  EXPECT_EQ(settings_.pipeline.diff.min_samples, 384);
  requests_ = {};
  click("fov-deg");  // 5 .. 180
  EXPECT_NEAR(settings_.pipeline.lattice.fov_deg, 92.5, 1.5);
  EXPECT_EQ(settings_.pipeline.scanpath.fov_deg, settings_.pipeline.lattice.fov_deg);
  EXPECT_TRUE(requests_.configure);
}

// The value beside the bar is typed in; the row's button brings back what it began with, and is there only then.
TEST_F(OverlayDraw, Rows_HaveAValueToTypeAndAReset) {
  EXPECT_FALSE(overlay_->control("reset-threshold"));
  type("value-threshold", "17");
  EXPECT_EQ(settings_.pipeline.diff.threshold, 17);
  click("reset-threshold");
  EXPECT_EQ(settings_.pipeline.diff.threshold, 0);
  draw();
  EXPECT_FALSE(overlay_->control("reset-threshold"));
  for (const char* moved : {"e0", "fov-deg", "rate", "speed", "patches"}) {
    const ViewSettings before = settings_;
    click(moved, 0.7f);  // none stands there: newer Dear ImGui does not move a grab that is clicked on
    EXPECT_TRUE(settings_.pipeline.lattice != before.pipeline.lattice ||
                settings_.pipeline.scanpath != before.pipeline.scanpath || settings_.speed != before.speed)
        << moved;
    draw();
    click(std::string("reset-") + moved);
    EXPECT_EQ(settings_.pipeline.lattice, before.pipeline.lattice) << moved;
    EXPECT_EQ(settings_.pipeline.scanpath, before.pipeline.scanpath) << moved;
    EXPECT_EQ(settings_.speed, before.speed) << moved;
  }
}

TEST_F(OverlayDraw, ValuesOutsideTheRange_AreBroughtInside) {
  type("value-threshold", "900");
  EXPECT_EQ(settings_.pipeline.diff.threshold, 64);
}

TEST_F(OverlayDraw, E0AndN_TakeTurns) {
  click("e0");
  const LatticeConfig& lattice = settings_.pipeline.lattice;
  ASSERT_TRUE(std::holds_alternative<Acuity>(lattice.shape));
  EXPECT_EQ(acuity_of(lattice)->m0, acuity_of(lattice)->e0);
  click("patches");
  EXPECT_EQ(acuity_of(lattice), nullptr);
  EXPECT_TRUE(std::holds_alternative<TokenBudget>(lattice.shape));
}

TEST_F(OverlayDraw, BoxesAndButtons_DoWhatTheySay) {
  click("outlines", 0.1f);
  EXPECT_TRUE(settings_.outlines);
  EXPECT_FALSE(requests_.configure);
  settings_.pipeline.diff.threshold = 9;
  click("reset");
  EXPECT_EQ(settings_.pipeline.diff.threshold, 0);
  EXPECT_TRUE(requests_.reset_settings && requests_.configure);
  click("save");
  EXPECT_EQ(requests_.save_settings, "saccade.toml");
  click("step-forward");
  EXPECT_EQ(requests_.step, 1);
  click("pause");
  EXPECT_TRUE(settings_.paused);
}

TEST_F(OverlayDraw, APage_HasNoVsync) {
  EXPECT_TRUE(overlay_->control("vsync"));
  facts_.served = true;
  draw();
  EXPECT_FALSE(overlay_->control("vsync"));
  EXPECT_TRUE(overlay_->control("loop"));
  settings_.loop = true;
  draw();
  click("reset-playing");
  EXPECT_FALSE(settings_.loop);
}

TEST_F(OverlayDraw, Reset_IsOfAllRows) {
  click("outlines", 0.1f);
  click("loop", 0.1f);
  click("speed", 0.9f);
  click("reset");
  EXPECT_FALSE(settings_.outlines || settings_.loop);
  EXPECT_EQ(settings_.speed, 1);
}

TEST_F(OverlayDraw, SaveOverAFile_AsksFirst) {
  facts_.save_exists = "saccade.toml";
  draw();
  EXPECT_FALSE(overlay_->control("save"));
  click("keep");
  EXPECT_TRUE(requests_.keep_file);
  EXPECT_FALSE(requests_.save_settings);
  requests_ = {};
  click("replace");
  EXPECT_EQ(requests_.save_settings, "saccade.toml");
  EXPECT_TRUE(requests_.replace);
}

TEST_F(OverlayDraw, SeekBar_AsksForAPlaceInTheStreamsTime) {
  click("seek", 0.25f);
  ASSERT_TRUE(requests_.seek_pts_ns);
  EXPECT_NEAR(static_cast<double>(*requests_.seek_pts_ns), 26e9, 0.5e9);
  requests_ = {};
  facts_.time.seekable = false;
  click("seek", 0.5f);
  EXPECT_FALSE(requests_.seek_pts_ns);
}

// A white frame: its thumbnails are white, and a click on one shows its level.
TEST_F(OverlayDraw, Thumbnails_ShowTheLevels) {
  constexpr int kFrameWidth = 320, kFrameHeight = 180;
  const PyramidLayout layout = make_pyramid_layout(kFrameWidth, kFrameHeight, TextureFormat::kRgba8, 7);
  GlTexture texture(*shared_context(), layout);
  const std::vector<std::uint8_t> white(static_cast<std::size_t>(kFrameWidth * kFrameHeight * 4), 255);
  FrameView frame;
  frame.layout = PixelLayout::kRgba8;
  frame.width_px = kFrameWidth;
  frame.height_px = kFrameHeight;
  frame.planes[0] = {white.data(), kFrameWidth * 4};
  texture.update(frame);
  const shared::FoveaParams fovea = make_fovea_params({}, kDefaultFovDeg, {kFrameWidth, kFrameHeight, 1.0, 7});
  facts_.pyramid = &texture;
  facts_.look.fovea = &fovea;
  facts_.time.frame = 0;
  draw();
  draw();
  for (const char* name : {"thumbnail 0", "thumbnail 6"}) {
    const auto rect = overlay_->control(name);
    ASSERT_TRUE(rect) << name;
    EXPECT_EQ(pixel(static_cast<int>((rect->left + rect->right) / 2), static_cast<int>((rect->top + rect->bottom) / 2)),
              (std::array<std::uint8_t, 4>{255, 255, 255, 255}))
        << name;
  }
  // What colours mean stands below the picture, never on it.
  const PixelBox without = overlay_->picture_area();
  const PatchPlan plan;
  facts_.look.plan = &plan;
  for (const auto& [view, outlines] :
       {std::pair{View::kLod, false}, {View::kDamage, false}, {View::kFrame, true}, {View::kDamage, true}}) {
    settings_.view = view;
    settings_.outlines = outlines;
    draw();
    const PixelBox with = overlay_->picture_area();
    EXPECT_LT(with.bottom, without.bottom);
    EXPECT_TRUE(drawn_at((with.left + with.right) / 2, with.bottom + 8));
    EXPECT_FALSE(drawn_at((with.left + with.right) / 2, with.bottom - 8));
    for (const PixelBox& covered : overlay_->covered()) EXPECT_TRUE(intersection(covered, with).empty());
  }
  settings_.view = View::kFrame;
  settings_.outlines = false;
  facts_.look.plan = nullptr;
  draw();
  EXPECT_EQ(overlay_->picture_area(), without);
  click("thumbnail 3");
  EXPECT_EQ(settings_.view, View::kLevel);
  EXPECT_EQ(settings_.level, 3);
  facts_.pyramid = nullptr;
  facts_.look.fovea = nullptr;
}

}  // namespace
}  // namespace saccade::ui
