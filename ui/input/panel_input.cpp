#include "ui/input/panel_input.h"

#include <utility>

#include "pipeline/clock.h"
#include "ui/input/imgui_input.h"

namespace saccade::ui {
namespace {

Key key_of_silent(SilentKey key) {
  switch (key) {
    case SilentKey::kTab:
      return kKeyTab;
    case SilentKey::kLeft:
      return kKeyLeft;
    case SilentKey::kRight:
      return kKeyRight;
    case SilentKey::kUp:
      return kKeyUp;
    case SilentKey::kDown:
      return kKeyDown;
    case SilentKey::kToStart:
      return kKeyHome;
    case SilentKey::kToEnd:
      return kKeyEnd;
    case SilentKey::kBackspace:
      return kKeyBackspace;
    case SilentKey::kSpace:
      return kKeySpace;
    case SilentKey::kEscape:
      return kKeyEscape;
    default:  // the panel's
      return 0;
  }
}

}  // namespace

PanelInput::PanelInput(Viewer& viewer, std::function<void()> after_digest)
    : viewer_(viewer), view_(viewer), after_digest_(std::move(after_digest)) {
  prepare_imgui_input();
}

void PanelInput::set_size(const ViewSize& size) { size_ = size; }

ViewInput::Place PanelInput::place(float x, float y) const {
  return {x, y, static_cast<float>(size_.width_px), static_cast<float>(size_.height_px)};
}

void PanelInput::settle() {
  viewer_.digest(size_.width_px, size_.height_px, size_.scale);
  pressed_ = false;
  if (after_digest_) after_digest_();
}

void PanelInput::settle_pressed() {
  if (pressed_) settle();
}

void PanelInput::apply(const MoveInput& move) {
  settle_pressed();
  imgui_mouse(move.x, move.y, move.inside);
  if (move.inside) view_.move(place(move.x, move.y));
}

// Whether the panel wants the mouse, it says in the frame after the mouse came there.
void PanelInput::apply(const ButtonInput& button) {
  settle_pressed();
  imgui_mouse(button.x, button.y, true);
  settle();
  imgui_button(button.button, button.down);
  pressed_ = true;
  if (button.button != 0) return;
  if (button.down) {
    view_.press(place(button.x, button.y), static_cast<double>(steady_now_ns()) * 1e-9);
  } else {
    view_.release(place(button.x, button.y));
  }
}

void PanelInput::apply(const WheelInput& wheel) {
  settle_pressed();
  imgui_mouse(wheel.x, wheel.y, true);
  settle();
  imgui_wheel(wheel.dx, wheel.dy);
  view_.wheel(place(wheel.x, wheel.y), wheel.dy);
}

void PanelInput::apply(const KeyInput& key) {
  settle_pressed();
  imgui_modifiers(key);
  if (key.silent != SilentKey::kNone) {
    if (key.repeated) {  // pressed again: what is held without a change is repeated by Dear ImGui's own, slower clock
      imgui_key(key.silent, false);
      settle();
    }
    imgui_key(key.silent, key.down);
  }
  imgui_letter(key.place, key.down && key.control);
  pressed_ = true;
  if (!key.down) return;
  const bool plain = !key.control && !key.alt && !key.meta;
  if (const Key silent = key_of_silent(key.silent); silent != 0 && plain) {
    view_.key(silent, key.shift, key.repeated);
  }
  if (key.character != 0 && key.control == key.alt && !key.meta) character(key);  // control and alt: AltGr
}

void PanelInput::character(const KeyInput& key) {
  imgui_character(key.character);
  if (key.character <= U' ') return;
  const Key meant = key_of({key.character, key.place, key.shift, key.latin});
  if (meant != 0) view_.key(meant, key.shift, key.repeated);
}

void PanelInput::apply(const PasteInput& paste) {
  settle_pressed();
  imgui_modifiers({});  // Control is held: with it the panel takes no text
  if (viewer_.imgui().wants_keyboard()) imgui_text(paste.text);
  pressed_ = true;
}

void PanelInput::release_all() {
  view_.release(place(-1, -1));
  imgui_release_all();
  settle();
}

}  // namespace saccade::ui
