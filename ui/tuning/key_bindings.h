// The viewer's keys: one table that the viewer acts by and that the help lists. mpv's where mpv has one.
#pragma once

#include <cstdint>
#include <span>

namespace saccade::ui {

enum class Action : std::uint8_t {
  kPause,
  kStepForward,
  kStepBack,
  kSeekBack,
  kSeekForward,
  kSeekBackFar,
  kSeekForwardFar,
  kSeekBackNear,
  kSeekForwardNear,
  kSeekStart,
  kSeekEnd,
  kSlower,
  kFaster,
  kNormalSpeed,
  kLoop,
  kFullscreen,
  kQuit,
  kEscape,
  kOverlay,
  kScreenshot,
  kHelp,
  kNextView,
  kPreviousView,
  kLevel,
  kMarks,
  kOutlines,
  kScanpath,
  kBoxes,
  kFilter,
  kVsync,
  kResetZoom,
  kFreeGaze,
};

// A key is what it types on the keyboard in use: a letter in lower case or a sign, by its code point. Keys that type
// nothing have numbers beyond Unicode's.
using Key = char32_t;
inline constexpr Key kKeyTab = '\t', kKeyBackspace = '\b', kKeyEscape = 0x1b, kKeySpace = ' ';
inline constexpr Key kKeyLeft = 0x110000, kKeyRight = 0x110001, kKeyUp = 0x110002, kKeyDown = 0x110003;
inline constexpr Key kKeyHome = 0x110004, kKeyEnd = 0x110005;

struct KeyBinding {
  Key key;
  bool shift;  // wants shift held; signs take it as it comes: it may be what types them
  Action action;
  const char* keys;  // as the help writes it; empty: another spelling of the line above
  const char* what;
};

std::span<const KeyBinding> key_bindings();

// The binding of a key; null: none. The digits are all the first one's.
const KeyBinding* binding_of(Key key, bool shift);

// A key that was pressed, as the keyboard tells it.
struct Typed {
  char32_t character;  // that it types, in the layout in force
  Key place;           // what it would type, without shift, on a keyboard of the United States; 0: nothing
  bool shift;
  bool latin;  // the layout has Latin letters
};

// What it means: what it types, but with a layout of another script, as Cyrillic, what the same key types in Latin.
Key key_of(const Typed& typed);

// What the mouse does, for the help: pairs of gesture and effect.
struct MouseBinding {
  const char* gesture;
  const char* what;
};
std::span<const MouseBinding> mouse_bindings();

}  // namespace saccade::ui
