#include "ui/input/imgui_input.h"

#include <imgui.h>

#include <utility>

namespace saccade::ui {
namespace {

struct KeyPair {
  SilentKey key;
  ImGuiKey imgui;
};
constexpr KeyPair kKeys[] = {{SilentKey::kTab, ImGuiKey_Tab},
                             {SilentKey::kLeft, ImGuiKey_LeftArrow},
                             {SilentKey::kRight, ImGuiKey_RightArrow},
                             {SilentKey::kUp, ImGuiKey_UpArrow},
                             {SilentKey::kDown, ImGuiKey_DownArrow},
                             {SilentKey::kToStart, ImGuiKey_Home},
                             {SilentKey::kToEnd, ImGuiKey_End},
                             {SilentKey::kPageUp, ImGuiKey_PageUp},
                             {SilentKey::kPageDown, ImGuiKey_PageDown},
                             {SilentKey::kDelete, ImGuiKey_Delete},
                             {SilentKey::kBackspace, ImGuiKey_Backspace},
                             {SilentKey::kEnter, ImGuiKey_Enter},
                             {SilentKey::kEscape, ImGuiKey_Escape},
                             {SilentKey::kSpace, ImGuiKey_Space}};
struct LetterPair {
  char32_t letter;
  ImGuiKey imgui;
};
constexpr LetterPair kLetters[] = {{U'a', ImGuiKey_A}, {U'c', ImGuiKey_C}, {U'v', ImGuiKey_V},
                                   {U'x', ImGuiKey_X}, {U'y', ImGuiKey_Y}, {U'z', ImGuiKey_Z}};

// Before 1.87 there is no queue of events: what is set is what the next frame sees.
void set_key(ImGuiKey key, bool down) {
#if IMGUI_VERSION_NUM >= 18700
  ImGui::GetIO().AddKeyEvent(key, down);
#else
  ImGui::GetIO().KeysDown[key] = down;
#endif
}

// Of the one context that there is; `read` is what Dear ImGui points to after it asked.
struct {
  ImguiClipboard calls;
  std::string read;
} g_clipboard;

void write_clipboard(const char* text) {
  if (g_clipboard.calls.write && text != nullptr) g_clipboard.calls.write(text);
}
const char* read_clipboard() {
  if (g_clipboard.calls.read) g_clipboard.read = g_clipboard.calls.read();
  return g_clipboard.read.c_str();
}

}  // namespace

void prepare_imgui_input() {
  ImGuiIO& io = ImGui::GetIO();
#if IMGUI_VERSION_NUM >= 18700
  io.ConfigInputTrickleEventQueue = false;  // frames are digested between changes
#else
  for (const KeyPair& pair : kKeys) io.KeyMap[pair.imgui] = pair.imgui;
  for (const LetterPair& pair : kLetters) io.KeyMap[pair.imgui] = pair.imgui;
#endif
  io.BackendFlags |= ImGuiBackendFlags_HasMouseCursors;
}

void set_imgui_clipboard(ImguiClipboard clipboard) {
  g_clipboard = {std::move(clipboard), {}};
#if IMGUI_VERSION_NUM >= 19110
  ImGuiPlatformIO& platform = ImGui::GetPlatformIO();
  platform.Platform_SetClipboardTextFn = [](ImGuiContext*, const char* text) { write_clipboard(text); };
  platform.Platform_GetClipboardTextFn = [](ImGuiContext*) { return read_clipboard(); };
#else
  ImGuiIO& io = ImGui::GetIO();
  io.SetClipboardTextFn = [](void*, const char* text) { write_clipboard(text); };
  io.GetClipboardTextFn = [](void*) { return read_clipboard(); };
#endif
}

void imgui_mouse(float x, float y, bool inside) {
  constexpr float kNowhere = -3.4e38f;
#if IMGUI_VERSION_NUM >= 18700
  ImGui::GetIO().AddMousePosEvent(inside ? x : kNowhere, inside ? y : kNowhere);
#else
  ImGui::GetIO().MousePos = inside ? ImVec2{x, y} : ImVec2{kNowhere, kNowhere};
#endif
}

void imgui_button(int button, bool down) {
#if IMGUI_VERSION_NUM >= 18700
  ImGui::GetIO().AddMouseButtonEvent(button, down);
#else
  ImGui::GetIO().MouseDown[button] = down;
#endif
}

void imgui_wheel(float dx, float dy) {
#if IMGUI_VERSION_NUM >= 18700
  ImGui::GetIO().AddMouseWheelEvent(dx, dy);
#else
  ImGui::GetIO().MouseWheelH += dx;
  ImGui::GetIO().MouseWheel += dy;
#endif
}

void imgui_modifiers(const KeyInput& key) {
  ImGuiIO& io = ImGui::GetIO();
#if IMGUI_VERSION_NUM >= 18900
  io.AddKeyEvent(ImGuiMod_Ctrl, key.control);
  io.AddKeyEvent(ImGuiMod_Shift, key.shift);
  io.AddKeyEvent(ImGuiMod_Alt, key.alt);
  io.AddKeyEvent(ImGuiMod_Super, key.meta);
#else
  io.KeyCtrl = key.control;
  io.KeyShift = key.shift;
  io.KeyAlt = key.alt;
  io.KeySuper = key.meta;
#endif
}

void imgui_key(SilentKey key, bool down) {
  for (const KeyPair& pair : kKeys) {
    if (pair.key == key) set_key(pair.imgui, down);
  }
}

void imgui_letter(char32_t letter, bool down) {
  for (const LetterPair& pair : kLetters) {
    if (pair.letter == letter) set_key(pair.imgui, down);
  }
}

void imgui_character(char32_t character) { ImGui::GetIO().AddInputCharacter(static_cast<unsigned>(character)); }
void imgui_text(const std::string& text) { ImGui::GetIO().AddInputCharactersUTF8(text.c_str()); }

void imgui_release_all() {
  for (int button = 0; button < 3; ++button) imgui_button(button, false);
  for (const KeyPair& pair : kKeys) set_key(pair.imgui, false);
  for (const LetterPair& pair : kLetters) set_key(pair.imgui, false);
  imgui_modifiers({});
  imgui_mouse(0, 0, false);
}

const char* imgui_cursor() {
  switch (ImGui::GetMouseCursor()) {
    case ImGuiMouseCursor_TextInput:
      return "text";
    case ImGuiMouseCursor_Hand:
      return "pointer";
    case ImGuiMouseCursor_ResizeAll:
      return "move";
    case ImGuiMouseCursor_ResizeNS:
      return "ns-resize";
    case ImGuiMouseCursor_ResizeEW:
      return "ew-resize";
    case ImGuiMouseCursor_ResizeNESW:
      return "nesw-resize";
    case ImGuiMouseCursor_ResizeNWSE:
      return "nwse-resize";
    case ImGuiMouseCursor_NotAllowed:
      return "not-allowed";
    default:
      return "default";
  }
}

}  // namespace saccade::ui
