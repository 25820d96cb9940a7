#include "ui/web/web_input.h"

#include <utility>

#include "pipeline/clock.h"
#include "ui/web/imgui_events.h"

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
    default:  // Escape lets go of the page; the others are the panel's
      return 0;
  }
}

}  // namespace

WebInput::WebInput(Viewer& viewer, std::function<void()> after_digest)
    : viewer_(viewer), view_(viewer), after_digest_(std::move(after_digest)) {
  prepare_imgui_input();
  share_imgui_clipboard(clipboard_, copied_);
}

void WebInput::set_size(const PageSize& size) {
  size_ = size;
  moved_ = true;
}

ViewInput::Place WebInput::place(float x, float y) const {
  return {x, y, static_cast<float>(size_.width_px), static_cast<float>(size_.height_px)};
}

void WebInput::settle() {
  viewer_.digest(size_.width_px, size_.height_px, size_.scale);
  moved_ = pressed_ = false;
  after_digest_();
}

void WebInput::digest_if(bool needed) {
  if (needed) settle();
}

void WebInput::apply(const MoveInput& move) {
  digest_if(pressed_);
  imgui_mouse(move.x, move.y, move.inside);
  if (move.inside) view_.move(place(move.x, move.y));
  moved_ = true;
}

// Whether the panel wants the mouse, it says in the frame after the mouse came there.
void WebInput::apply(const ButtonInput& button) {
  digest_if(pressed_);
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

void WebInput::apply(const WheelInput& wheel) {
  digest_if(pressed_);
  imgui_mouse(wheel.x, wheel.y, true);
  settle();
  imgui_wheel(wheel.dx, wheel.dy);
  moved_ = true;
  view_.wheel(place(wheel.x, wheel.y), wheel.dy);
}

void WebInput::apply(const KeyInput& key) {
  digest_if(pressed_);
  imgui_modifiers(key);
  if (key.silent != SilentKey::kNone) imgui_key(key.silent, key.down);
  imgui_letter(key.place, key.down && key.control);
  pressed_ = true;
  if (!key.down) return;
  const bool plain = !key.control && !key.alt && !key.meta;
  if (const Key silent = key_of_silent(key.silent); silent != 0 && plain) {
    view_.key(silent, key.shift, key.repeated);
  }
  if (key.character != 0 && key.control == key.alt && !key.meta) character(key);  // control and alt: AltGr
}

void WebInput::character(const KeyInput& key) {
  imgui_character(key.character);
  if (key.character <= U' ') return;
  const Key meant = key_of({key.character, key.place, key.shift, true});
  if (meant != 0) view_.key(meant, key.shift, key.repeated);
}

void WebInput::apply(const PasteInput& paste) {
  digest_if(pressed_);
  imgui_modifiers({});  // Control is held: with it the panel takes no text
  if (viewer_.imgui().wants_keyboard()) imgui_text(paste.text);
  pressed_ = true;
}

void WebInput::release_all() {
  view_.release(place(-1, -1));
  imgui_release_all();
  settle();
}

const char* WebInput::cursor() const { return imgui_cursor(); }
std::string WebInput::take_clipboard() { return std::exchange(copied_, {}); }

}  // namespace saccade::ui
