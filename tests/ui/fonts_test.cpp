// Letters of other scripts: which font has them, and that they reach the panel.
#include "ui/viewer/fonts.h"

#include <gtest/gtest.h>
#include <imgui.h>

#include <filesystem>

#include "tests/support/required.h"
#include "ui/viewer/panel_text.h"

namespace saccade::ui {
namespace {

class PanelFont : public ::testing::Test {
 protected:
  void SetUp() override {
    context_ = ImGui::CreateContext();
    ImGui::GetIO().IniFilename = nullptr;
    if (!panel_font()) testing::skip_or_fail("fonts", "no outline font is installed");
  }
  void TearDown() override { ImGui::DestroyContext(context_); }
  static bool has(ImWchar letter) { return ImGui::GetIO().Fonts->Fonts[0]->FindGlyphNoFallback(letter) != nullptr; }

  ImGuiContext* context_ = nullptr;
  PanelText text_;
};

TEST_F(PanelFont, Always_HasLatinGreekAndCyrillic) {
  text_.load(13.5f);
  for (const char32_t letter : {U'A', U'\u00e9', U'\u0159', U'\u03a9', U'\u0416', U'\u0451'}) {
    EXPECT_TRUE(has(static_cast<ImWchar>(letter))) << static_cast<unsigned>(letter);
  }
}

TEST_F(PanelFont, NeededLetters_AreTakenFromAnotherFont) {
  const char32_t letter = 0x65e5;  // of "Japan"
  if (!font_with(letter)) {
    testing::skip_or_fail("fonts", "no font with Japanese letters is installed");
    return;
  }
  text_.load(13.5f);
  EXPECT_FALSE(text_.changed());
  EXPECT_FALSE(has(static_cast<ImWchar>(letter)));
  text_.need("plain");
  EXPECT_FALSE(text_.changed());
  text_.need("/videos/\xe6\x97\xa5\xe6\x9c\xac.mp4");
  EXPECT_TRUE(text_.changed());
  text_.load(13.5f);
  EXPECT_TRUE(has(static_cast<ImWchar>(letter)));
  EXPECT_TRUE(has('A'));
  text_.need("\xe6\x97\xa5");
  EXPECT_FALSE(text_.changed());  // it is there
}

TEST_F(PanelFont, BrokenText_IsNoLetter) {
  text_.need("\xff\xfe\xe6\x97");
  text_.load(13.5f);
  EXPECT_TRUE(has('A'));
}

TEST_F(PanelFont, Letter_HasAFileThatCanBeRead) {
  const auto file = font_with('A');
  ASSERT_TRUE(file);
  EXPECT_TRUE(std::filesystem::exists(file->path));
  EXPECT_GT(read_font(*file).size(), 1000U);
  EXPECT_FALSE(font_with(0xe000));  // nobody's
  EXPECT_TRUE(read_font({"no such font", 0}).empty());
}

}  // namespace
}  // namespace saccade::ui
