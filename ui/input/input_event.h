// What a person does with mouse and keys, wherever it comes from: a window or a page. Plain data.
#pragma once

#include <cstdint>
#include <string>

namespace saccade::ui {

// Keys that type nothing, or the same everywhere.
enum class SilentKey : std::uint8_t {
  kNone,
  kTab,
  kLeft,
  kRight,
  kUp,
  kDown,
  kToStart,
  kToEnd,
  kPageUp,
  kPageDown,
  kDelete,
  kBackspace,
  kEnter,
  kEscape,
  kSpace,
};

// Places are pixels of the framebuffer, origin top-left.
struct MoveInput {
  float x = 0, y = 0;
  bool inside = true;  // false: it left
};
struct ButtonInput {
  float x = 0, y = 0;
  int button = 0;  // 0 left, 1 right, 2 middle
  bool down = false;
};
struct WheelInput {  // dx, dy: notches, up is positive
  float x = 0, y = 0, dx = 0, dy = 0;
};
struct KeyInput {
  SilentKey silent = SilentKey::kNone;
  char32_t character = 0;  // that it types; 0: none
  char32_t place = 0;      // what the key types on a keyboard of the United States, without shift; 0: unknown
  bool down = false, repeated = false;
  bool shift = false, control = false, alt = false, meta = false;
  bool latin = true;  // the keyboard's layout has Latin letters
};
struct PasteInput {
  std::string text;  // UTF-8 without control characters
};

}  // namespace saccade::ui
