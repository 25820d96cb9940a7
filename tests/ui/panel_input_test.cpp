// Mouse and keys on the panel, as fast as they can come: all within one frame of the viewer.
#include "ui/input/panel_input.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/ui/playback_fixture.h"

namespace saccade::ui {
namespace {

class PanelInputTest : public PlaybackTest {
 protected:
  void SetUp() override {
    PlaybackTest::SetUp();
    if (!viewer_) return;
    settings().paused = true;
    input_ = std::make_unique<PanelInput>(*viewer_);
    input_->set_size({kWidth, kHeight, 1});
    input_->settle();
    input_->settle();
  }
  void TearDown() override {
    input_.reset();
    PlaybackTest::TearDown();
  }

  void click(std::string_view control) {
    const auto rect = viewer_->overlay().control(control);
    ASSERT_TRUE(rect) << control;
    const float x = (rect->left + rect->right) / 2, y = (rect->top + rect->bottom) / 2;
    for (const bool down : {true, false}) input_->apply(ButtonInput{x, y, 0, down});
    input_->settle();
  }
  void press(KeyInput key) {
    for (const bool down : {true, false}) {
      key.down = down;
      input_->apply(key);
    }
  }
  void press(SilentKey key) { press(KeyInput{.silent = key}); }
  void type(std::string_view text) {
    for (const char c : text) {
      press(KeyInput{.character = static_cast<char32_t>(c), .place = static_cast<char32_t>(c)});
    }
  }

  static constexpr int kWidth = 1280, kHeight = 1100;
  std::unique_ptr<PanelInput> input_;
};

TEST_F(PanelInputTest, KeysTypedWithinAFrame_AreAllSeen) {
  click("value-threshold");
  type("99");
  press(SilentKey::kBackspace);
  press(SilentKey::kBackspace);
  type("12");
  press(SilentKey::kLeft);
  press(SilentKey::kDelete);
  type("7");
  press(SilentKey::kEnter);
  input_->settle();
  EXPECT_EQ(settings().pipeline.diff.threshold, 17);
}

// As a held key is reported, and one that is pressed again at once.
TEST_F(PanelInputTest, RepeatedKeys_AreEachSeen) {
  click("value-threshold");
  type("5432");
  for (const bool repeated : {false, true, true}) {
    input_->apply(KeyInput{.silent = SilentKey::kBackspace, .down = true, .repeated = repeated});
  }
  press(SilentKey::kEnter);
  input_->settle();
  EXPECT_EQ(settings().pipeline.diff.threshold, 5);
}

TEST_F(PanelInputTest, AClickAndWhatIsTypedThen_AreInOrder) {
  click("value-threshold");
  type("5");
  press(SilentKey::kEnter);
  click("value-min-samples");
  type("11");
  press(SilentKey::kEnter);
  type("m");  // no field has the keyboard any more
  EXPECT_EQ(settings().pipeline.diff.threshold, 5);
  EXPECT_EQ(settings().pipeline.diff.min_samples, 11);
  EXPECT_FALSE(settings().marks);
}

TEST_F(PanelInputTest, Escape_ClosesAListAndLeavesTheChoice) {
  const View before = settings().view;
  click("view");
  EXPECT_TRUE(viewer_->imgui().has_list());
  press(SilentKey::kEscape);
  input_->settle();
  EXPECT_FALSE(viewer_->imgui().has_list());
  EXPECT_EQ(settings().view, before);
  EXPECT_FALSE(viewer_->requests.quit);
  press(SilentKey::kEscape);
  EXPECT_TRUE(viewer_->requests.quit);
}

TEST_F(PanelInputTest, Escape_InAFieldBringsItsTextBack) {
  click("value-threshold");
  EXPECT_TRUE(viewer_->imgui().wants_keyboard());
  type("33");
  press(SilentKey::kEscape);
  EXPECT_EQ(settings().pipeline.diff.threshold, 0);
  EXPECT_FALSE(viewer_->requests.quit);
  EXPECT_FALSE(viewer_->imgui().wants_keyboard());
}

// A first picture after the panel had other rows, as when the first frame comes while it is paused.
TEST_F(PanelInputTest, EachPicture_HoldsWholePanels) {
  const Picture settled = viewer_->picture(kWidth, kHeight, 1);
  for (const bool open : {false, true}) {
    settings().facts_open = settings().settings_open = open;
    const Picture first = viewer_->picture(kWidth, kHeight, 1), next = viewer_->picture(kWidth, kHeight, 1);
    EXPECT_EQ(first.rgb, next.rgb) << open;
    EXPECT_EQ(first.rgb == settled.rgb, open);
  }
  settings().help = true;
  const Picture help = viewer_->picture(kWidth, kHeight, 1);
  EXPECT_NE(help.rgb, settled.rgb);
  EXPECT_EQ(help.rgb, viewer_->picture(kWidth, kHeight, 1).rgb);
}

}  // namespace
}  // namespace saccade::ui
