// Input for Dear ImGui's current context, whichever way its version takes it. PanelInput gives it, in order.
#pragma once

#include <functional>
#include <string>

#include "ui/input/input_event.h"

namespace saccade::ui {

// Called on the viewer's thread; UTF-8.
struct ImguiClipboard {
  std::function<std::string()> read;
  std::function<void(const std::string&)> write;
};

void prepare_imgui_input();  // once for a context
void set_imgui_clipboard(ImguiClipboard clipboard);
void imgui_mouse(float x, float y, bool inside);
void imgui_button(int button, bool down);
void imgui_wheel(float dx, float dy);
void imgui_modifiers(const KeyInput& key);
void imgui_key(SilentKey key, bool down);
void imgui_letter(char32_t letter, bool down);  // of a shortcut: a, c, v, x, y, z
void imgui_character(char32_t character);
void imgui_text(const std::string& text);
void imgui_release_all();
const char* imgui_cursor();  // as CSS names it

}  // namespace saccade::ui
