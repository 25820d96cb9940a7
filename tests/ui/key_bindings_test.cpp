// Keys by what they type: layouts as they are printed on keyboards.
#include "ui/tuning/key_bindings.h"

#include <gtest/gtest.h>

#include <optional>
#include <set>

namespace saccade::ui {
namespace {

// What a key does; `place` is the key's letter on a keyboard of the United States.
std::optional<Action> pressed(char32_t character, char32_t place, bool shift = false, bool latin = true) {
  const KeyBinding* binding = binding_of(key_of({character, place, shift, latin}), shift);
  return binding == nullptr ? std::nullopt : std::optional(binding->action);
}

TEST(KeyBindings, German_KeysByWhatTheyType) {
  EXPECT_EQ(pressed(U'z', 'y'), Action::kResetZoom);
  EXPECT_EQ(pressed(U'y', 'z'), std::nullopt);
  EXPECT_EQ(pressed(U'?', '-', true), Action::kHelp);
  EXPECT_EQ(pressed(U'[', '8'), Action::kSlower);  // with AltGr
  EXPECT_EQ(pressed(U'ü', '['), std::nullopt);
  EXPECT_EQ(pressed(U'-', '/'), std::nullopt);
  EXPECT_EQ(pressed(U'@', 'q'), std::nullopt);  // with AltGr: it does not quit
}

TEST(KeyBindings, French_KeysByWhatTheyType) {
  EXPECT_EQ(pressed(U'q', 'a'), Action::kQuit);
  EXPECT_EQ(pressed(U'a', 'q'), std::nullopt);
  EXPECT_EQ(pressed(U'm', ';'), Action::kMarks);
  EXPECT_EQ(pressed(U',', 'm'), Action::kStepBack);
  EXPECT_EQ(pressed(U'.', ',', true), Action::kStepForward);  // shift and ;
  EXPECT_EQ(pressed(U'?', 'm', true), Action::kHelp);
  EXPECT_EQ(pressed(U'3', '3', true), Action::kLevel);
  EXPECT_EQ(pressed(U'"', '3'), std::nullopt);
}

TEST(KeyBindings, Spanish_KeysByWhatTheyType) {
  EXPECT_EQ(pressed(U'?', '-', true), Action::kHelp);
  EXPECT_EQ(pressed(U'¿', '=', true), std::nullopt);
  EXPECT_EQ(pressed(U'ñ', ';'), std::nullopt);
  EXPECT_EQ(pressed(U']', ']'), Action::kFaster);  // with AltGr
}

TEST(KeyBindings, CyrillicAndGreek_FallBackToTheLatinLetterOfTheKey) {
  EXPECT_EQ(pressed(U'й', 'q', false, false), Action::kQuit);
  EXPECT_EQ(pressed(U'Й', 'q', false, false), Action::kQuit);  // caps lock
  EXPECT_EQ(pressed(U'Й', 'q', true, false), std::nullopt);    // as a Q
  EXPECT_EQ(pressed(U'х', '[', false, false), Action::kSlower);
  EXPECT_EQ(pressed(U'б', ',', false, false), Action::kStepBack);
  EXPECT_EQ(pressed(U'ю', '.', false, false), Action::kStepForward);
  EXPECT_EQ(pressed(U'.', '/', false, false), Action::kStepForward);  // what it types comes first
  EXPECT_EQ(pressed(U',', '/', true, false), Action::kStepBack);
  EXPECT_EQ(pressed(U'?', '7', true, false), Action::kHelp);
  EXPECT_EQ(pressed(U'№', '3', true, false), std::nullopt);
  EXPECT_EQ(pressed(U'σ', 's', false, false), Action::kScreenshot);
}

TEST(KeyBindings, Hebrew_SignsInPlaceOfLettersFallBackToo) {
  EXPECT_EQ(pressed(U'/', 'q', false, false), Action::kQuit);
  EXPECT_EQ(pressed(U'\'', 'w', false, false), std::nullopt);
  EXPECT_EQ(pressed(U'ץ', '.', false, false), Action::kStepForward);
}

TEST(KeyBindings, ArabicDigits_AreLevels) { EXPECT_EQ(pressed(U'٣', '3', false, false), Action::kLevel); }

TEST(KeyBindings, CapitalLetter_IsCapsLocksNotShifts) {
  EXPECT_EQ(pressed(U'S', 's'), Action::kScreenshot);
  EXPECT_EQ(pressed(U'S', 's', true), std::nullopt);
}

TEST(KeyBindings, Shift_TellsSilentKeysApart) {
  EXPECT_EQ(binding_of(kKeyTab, false)->action, Action::kNextView);
  EXPECT_EQ(binding_of(kKeyTab, true)->action, Action::kPreviousView);
}

TEST(KeyBindings, NoKey_IsBoundTwice) {
  std::set<std::pair<Key, bool>> seen;
  for (const KeyBinding& binding : key_bindings()) {
    EXPECT_TRUE(seen.emplace(binding.key, binding.shift).second) << static_cast<unsigned>(binding.key);
  }
}

}  // namespace
}  // namespace saccade::ui
