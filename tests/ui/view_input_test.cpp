// What keys and the mouse do to a viewer that plays.
#include "ui/input/view_input.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "pipeline/gaze/lattice/lattice.h"
#include "tests/ui/playback_fixture.h"
#include "ui/picture/frame_renderer.h"

namespace saccade::ui {
namespace {

class ViewInputTest : public PlaybackTest {};

TEST_F(ViewInputTest, EachKey_LeavesANote) {
  ViewInput input(*viewer_);
  for (const KeyBinding& binding : key_bindings()) {
    const bool silent =
        binding.action == Action::kQuit || binding.action == Action::kScreenshot || binding.action == Action::kEscape;
    facts().note.clear();
    input.key(binding.key, binding.shift, false);
    EXPECT_EQ(facts().note.empty(), silent) << binding.keys << ": " << binding.what;
    viewer_->requests = {};
  }
}

TEST_F(ViewInputTest, VsyncInAPage_SaysThatThereIsNone) {
  ViewInput input(*viewer_);
  input.key('v', false, false);
  EXPECT_FALSE(settings().vsync);
  EXPECT_EQ(facts().note, "vsync off");
  facts().served = true;
  input.key('v', false, false);
  EXPECT_FALSE(settings().vsync);
  EXPECT_NE(facts().note.find("no vsync in a page"), std::string::npos) << facts().note;
}

// The rings that a budget of tokens pays for may be coarser than lod(e) asks: each level has a colour of its own.
TEST_F(ViewInputTest, Colours_ReachToTheCoarsestPatch) {
  start("test://box?size=1280x720&rate=25&frames=5");
  const auto range = [this] { return lod_range({1280, 720, 1}, *facts().look.fovea, facts().look.coarsest_lod); };
  ASSERT_NE(facts().look.fovea, nullptr);
  const std::unique_ptr<Lattice> lattice =
      make_lattice(settings().pipeline.lattice, {1280, 720, 1.0, settings().pipeline.levels});
  PatchPlan plan;
  float coarsest = 0;
  for (const auto& [u, v] : {std::pair{0.0f, 0.0f}, {1.0f, 0.0f}, {0.5f, 0.5f}, {0.8f, 0.7f}, {1.0f, 1.0f}}) {
    lattice->plan(u, v, plan);
    for (const Patch& patch : plan.patches) coarsest = std::max(coarsest, patch.coverage > 0 ? patch.lod : 0.0f);
  }
  EXPECT_GT(coarsest, lod_range({1280, 720, 1}, *facts().look.fovea, 0)) << "the test needs such a lattice";
  EXPECT_EQ(range(), coarsest);
  settings().pipeline.lattice.shape = UniformShape{};
  viewer_->requests.configure = true;
  spin();
  EXPECT_TRUE(until([&] { return facts().look.coarsest_lod != coarsest; })) << "it follows the settings";
}

TEST_F(ViewInputTest, Escape_AnswersThenClosesTheHelpThenLeavesFullScreenThenQuits) {
  ViewInput input(*viewer_);
  facts().save_exists = "a.toml";
  settings().help = settings().fullscreen = true;
  input.key(kKeyEscape, false, false);
  EXPECT_TRUE(viewer_->requests.keep_file);
  EXPECT_TRUE(settings().help);
  facts().save_exists.clear();
  input.key(kKeyEscape, false, false);
  EXPECT_FALSE(settings().help);
  EXPECT_TRUE(settings().fullscreen);
  input.key(kKeyEscape, false, false);
  EXPECT_FALSE(settings().fullscreen);
  EXPECT_FALSE(viewer_->requests.quit);
  input.key(kKeyEscape, false, false);
  EXPECT_TRUE(viewer_->requests.quit);
}

TEST_F(ViewInputTest, Escape_AsksBeforeTunedSettingsAreLost) {
  ViewInput input(*viewer_);
  const auto escape = [&] { input.key(kKeyEscape, false, false); };
  settings().pipeline.diff.threshold = 9;
  escape();
  EXPECT_TRUE(facts().asks_to_quit);
  escape();  // the answer is no
  EXPECT_FALSE(facts().asks_to_quit);
  EXPECT_FALSE(viewer_->requests.quit);
  viewer_->note_saved();
  escape();
  EXPECT_FALSE(facts().asks_to_quit);
  EXPECT_TRUE(viewer_->requests.quit);
}

TEST_F(ViewInputTest, Escape_AsksForNothingWhereOnlyTheEyeOrTheViewChanged) {
  ViewInput input(*viewer_);
  ASSERT_TRUE(until([this] { return facts().time.frame >= 0; }));
  settings().view = View::kLod;
  settings().speed = 2;
  viewer_->fixate(0.25f, 0.25f);
  input.key(kKeyEscape, false, false);
  EXPECT_FALSE(facts().asks_to_quit);
  EXPECT_TRUE(viewer_->requests.quit);
  viewer_->requests = {};
  settings().pipeline.scanpath.rate_hz = 9;  // tuned while the eye is held
  input.key(kKeyEscape, false, false);
  EXPECT_TRUE(facts().asks_to_quit);
}

TEST_F(ViewInputTest, Escape_InAPageClosesAndNothingElse) {
  ViewInput input(*viewer_);
  facts().served = true;
  settings().help = true;
  settings().pipeline.diff.threshold = 9;
  for (int i = 0; i < 3; ++i) input.key(kKeyEscape, false, false);
  EXPECT_FALSE(settings().help);
  EXPECT_FALSE(facts().asks_to_quit);
  EXPECT_FALSE(viewer_->requests.quit);
}

TEST_F(ViewInputTest, Click_MovesTheEyeAndADragThePicture) {
  ViewInput input(*viewer_);
  ASSERT_TRUE(until([this] { return facts().time.frame >= 0; }));
  const ViewInput::Place at{480, 90, 640, 360};
  double now_s = 0;
  input.press(at, now_s += 10);
  input.release(at);
  EXPECT_EQ(settings().pipeline.scanpath.policy, FixationPolicy::kCenter);
  const std::string held = settings().pipeline.scanpath.argument;
  input.press(at, now_s += 10);
  input.move({500, 90, 640, 360});
  input.release({500, 90, 640, 360});
  EXPECT_NE(settings().pan_x, 0);
  EXPECT_EQ(settings().pipeline.scanpath.argument, held);
}

TEST_F(ViewInputTest, DoubleClick_IsFullScreenAndNoFixation) {
  ViewInput input(*viewer_);
  ASSERT_TRUE(until([this] { return facts().time.frame >= 0; }));
  const ScanpathConfig before = settings().pipeline.scanpath;
  const ViewInput::Place at{480, 90, 640, 360};
  for (const double now_s : {1.0, 1.2}) {
    input.press(at, now_s);
    input.release(at);
  }
  EXPECT_TRUE(settings().fullscreen);
  EXPECT_EQ(settings().pipeline.scanpath, before);
  input.press(at, 1.3);  // a third is a click of its own
  input.release(at);
  EXPECT_TRUE(settings().fullscreen);
  EXPECT_NE(settings().pipeline.scanpath, before);
}

TEST_F(ViewInputTest, KeysThatSeek_GoWhereTheySay) {
  settings().paused = true;
  ViewInput input(*viewer_);
  const auto goes_to = [&](Key key, bool shift, std::int64_t frame) {
    input.key(key, shift, false);
    spin();
    return until([&] { return facts().time.frame == frame; });
  };
  EXPECT_TRUE(goes_to(kKeyEnd, false, 249));
  EXPECT_TRUE(goes_to(kKeyHome, false, 0));
  EXPECT_TRUE(goes_to(kKeyRight, false, 125));
  EXPECT_TRUE(goes_to(kKeyRight, true, 150));
  EXPECT_TRUE(goes_to(kKeyLeft, true, 125));
  EXPECT_TRUE(goes_to(kKeyUp, true, 249));  // 10 s: the last frame
  EXPECT_TRUE(goes_to(kKeyDown, true, 124));
  EXPECT_EQ(facts().note, "5 s back");
}

// As fast as they can come: none is lost while the frame before is still on its way.
TEST_F(ViewInputTest, KeysThatStep_Add) {
  settings().paused = true;
  ViewInput input(*viewer_);
  ASSERT_TRUE(until([this] { return facts().time.frame == 0; }));
  for (int i = 0; i < 7; ++i) input.key('.', false, false);
  spin();
  input.key('.', false, false);
  EXPECT_TRUE(until([this] { return facts().time.frame == 8; })) << facts().time.frame;
  for (int i = 0; i < 3; ++i) input.key(',', false, false);
  EXPECT_TRUE(until([this] { return facts().time.frame == 5; })) << facts().time.frame;
  input.key(kKeyRight, true, false);
  spin();
  input.key(kKeyRight, true, false);
  input.key('.', false, false);
  EXPECT_TRUE(until([this] { return facts().time.frame == 56; })) << facts().time.frame;
}

}  // namespace
}  // namespace saccade::ui
