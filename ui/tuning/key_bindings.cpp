#include "ui/tuning/key_bindings.h"

namespace saccade::ui {
namespace {

constexpr KeyBinding kKeys[] = {
    {kKeySpace, false, Action::kPause, "space", "pause, go on"},
    {'p', false, Action::kPause, "", ""},
    {'.', false, Action::kStepForward, ".", "one frame on"},
    {',', false, Action::kStepBack, ",", "one frame back"},
    {kKeyRight, false, Action::kSeekForward, "right", "5 s on"},
    {kKeyLeft, false, Action::kSeekBack, "left", "5 s back"},
    {kKeyUp, false, Action::kSeekForwardFar, "up", "60 s on"},
    {kKeyDown, false, Action::kSeekBackFar, "down", "60 s back"},
    {kKeyRight, true, Action::kSeekForwardNear, "shift+right", "1 s on"},
    {kKeyLeft, true, Action::kSeekBackNear, "shift+left", "1 s back"},
    {kKeyUp, true, Action::kSeekForward, "", ""},
    {kKeyDown, true, Action::kSeekBack, "", ""},
    {kKeyHome, false, Action::kSeekStart, "Home", "to the first frame"},
    {kKeyEnd, false, Action::kSeekEnd, "End", "to the last frame"},
    {'[', false, Action::kSlower, "[", "slower by a tenth"},
    {']', false, Action::kFaster, "]", "faster by a tenth"},
    {kKeyBackspace, false, Action::kNormalSpeed, "backspace", "normal speed"},
    {'l', false, Action::kLoop, "l", "begin again at the end"},
    {'f', false, Action::kFullscreen, "f", "full screen"},
    {'s', false, Action::kScreenshot, "s", "picture of the window to a file"},
    {'q', false, Action::kQuit, "q", "quit"},
    {kKeyEscape, false, Action::kEscape, "Esc", "close a list or this one, leave full screen; else quit"},
    {'i', false, Action::kOverlay, "i", "panel"},
    {'?', false, Action::kHelp, "?, h", "this list"},
    {'h', false, Action::kHelp, "", ""},
    {kKeyTab, false, Action::kNextView, "Tab", "next view; with shift the one before"},
    {kKeyTab, true, Action::kPreviousView, "", ""},
    {'0', false, Action::kLevel, "0 .. 9", "view of that level of the pyramid"},
    {'m', false, Action::kMarks, "m", "fixation and trail"},
    {'o', false, Action::kOutlines, "o", "outlines of the patches"},
    {'k', false, Action::kScanpath, "k", "past fixations with numbers"},
    {'b', false, Action::kBoxes, "b", "boxes of the views for a model"},
    {'n', false, Action::kFilter, "n", "enlarge: linear or nearest"},
    {'v', false, Action::kVsync, "v", "wait for the screen (vsync)"},
    {'z', false, Action::kResetZoom, "z", "fit the window"},
    {'g', false, Action::kFreeGaze, "g", "let the eye go where it wants again"},
};

constexpr MouseBinding kMouse[] = {
    {"click", "the eye goes there and stays"},
    {"double click", "full screen"},
    {"drag", "move the picture; in split: its seam"},
    {"wheel", "zoom about the cursor"},
    {"drop a file", "play it"},
};

bool is_letter(Key key) { return key >= 'a' && key <= 'z'; }

// Of another script than Latin, which ends with U+024F and has a second block; U+2000 to U+2BFF are signs of all.
bool is_foreign(Key key) {
  return key >= 0x250 && !(key >= 0x1e00 && key < 0x1f00) && !(key >= 0x2000 && key < 0x2c00);
}

}  // namespace

std::span<const KeyBinding> key_bindings() { return kKeys; }

const KeyBinding* binding_of(Key key, bool shift) {
  if (key > '0' && key <= '9') key = '0';
  const bool types_a_sign = key > ' ' && key < kKeyLeft && !is_letter(key);
  for (const KeyBinding& binding : kKeys) {
    if (binding.key == key && (types_a_sign || binding.shift == shift)) return &binding;
  }
  return nullptr;
}

// With caps lock a letter comes as a capital: shift alone tells.
Key key_of(const Typed& typed) {
  const Key key = typed.character >= 'A' && typed.character <= 'Z' ? typed.character + ('a' - 'A') : typed.character;
  const bool foreign = is_foreign(key) || (!typed.latin && binding_of(key, typed.shift) == nullptr);
  if (!foreign) return key;
  if (!typed.shift) return typed.place;
  return typed.place == '/' ? '?' : is_letter(typed.place) ? typed.place : 0;
}

std::span<const MouseBinding> mouse_bindings() { return kMouse; }

}  // namespace saccade::ui
