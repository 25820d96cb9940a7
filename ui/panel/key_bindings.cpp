#include "ui/panel/key_bindings.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

namespace saccade::ui {
namespace {

constexpr KeyBinding kKeys[] = {
    {GLFW_KEY_SPACE, false, Action::kPause, "space", "pause, go on"},
    {GLFW_KEY_P, false, Action::kPause, "", ""},
    {GLFW_KEY_PERIOD, false, Action::kStepForward, ".", "one frame on"},
    {GLFW_KEY_COMMA, false, Action::kStepBack, ",", "one frame back"},
    {GLFW_KEY_RIGHT, false, Action::kSeekForward, "right", "5 s on"},
    {GLFW_KEY_LEFT, false, Action::kSeekBack, "left", "5 s back"},
    {GLFW_KEY_UP, false, Action::kSeekForwardFar, "up", "60 s on"},
    {GLFW_KEY_DOWN, false, Action::kSeekBackFar, "down", "60 s back"},
    {GLFW_KEY_LEFT_BRACKET, false, Action::kSlower, "[", "slower by a tenth"},
    {GLFW_KEY_RIGHT_BRACKET, false, Action::kFaster, "]", "faster by a tenth"},
    {GLFW_KEY_BACKSPACE, false, Action::kNormalSpeed, "backspace", "normal speed"},
    {GLFW_KEY_L, false, Action::kLoop, "l", "begin again at the end"},
    {GLFW_KEY_F, false, Action::kFullscreen, "f", "full screen"},
    {GLFW_KEY_S, false, Action::kScreenshot, "s", "picture of the window to a file"},
    {GLFW_KEY_Q, false, Action::kQuit, "q, Esc", "quit"},
    {GLFW_KEY_ESCAPE, false, Action::kQuit, "", ""},
    {GLFW_KEY_I, false, Action::kOverlay, "i", "panel"},
    {GLFW_KEY_SLASH, true, Action::kHelp, "?, h", "this list"},
    {GLFW_KEY_H, false, Action::kHelp, "", ""},
    {GLFW_KEY_TAB, false, Action::kNextView, "Tab", "next view; with shift the one before"},
    {GLFW_KEY_TAB, true, Action::kPreviousView, "", ""},
    {GLFW_KEY_0, false, Action::kLevel, "0 .. 9", "view of that level of the pyramid"},
    {GLFW_KEY_M, false, Action::kMarks, "m", "fixation and trail"},
    {GLFW_KEY_O, false, Action::kOutlines, "o", "outlines of the patches"},
    {GLFW_KEY_K, false, Action::kScanpath, "k", "past fixations with numbers"},
    {GLFW_KEY_N, false, Action::kFilter, "n", "enlarge: linear or nearest"},
    {GLFW_KEY_V, false, Action::kVsync, "v", "wait for the screen (vsync)"},
    {GLFW_KEY_Z, false, Action::kResetZoom, "z", "fit the window"},
    {GLFW_KEY_G, false, Action::kFreeGaze, "g", "let the eye go where it wants again"},
};

constexpr MouseBinding kMouse[] = {
    {"click", "the eye goes there and stays"},
    {"drag", "move the picture; in split: its seam"},
    {"wheel", "zoom about the cursor"},
    {"drop a file", "play it"},
};

}  // namespace

std::span<const KeyBinding> key_bindings() { return kKeys; }
std::span<const MouseBinding> mouse_bindings() { return kMouse; }

}  // namespace saccade::ui
