// What a page says: a line of text a message, read into a value. Pure; nothing here trusts the page.
//
// Convention: words are parted by one space. N is the page's running number of an input, which pictures give back.
//   hello VERSION TOKEN             the first one
//   ack SEQ                         picture SEQ was drawn
//   move N X Y | leave N            the mouse, in pixels of the framebuffer, origin top-left
//   press N X Y BUTTON | release N X Y BUTTON
//   wheel N X Y DX DY               in notches, as the window counts them: up is positive
//   key N down|up KEY MODIFIERS CODE
//   paste N TEXT                    all that follows
//   resize N W H RATIO              the room that the page has, in pixels, and how many make a point
//   seek N S | step N FRAMES        seconds after the first frame; frames forward or back
//   set N NAME VALUE                view, speed, paused, loop, panel, quality
//   ask N settings|screenshot|line  a download, or text for the clipboard
//   hidden 0|1 | take | ping T
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "ui/input/input_event.h"
#include "ui/picture/view.h"

namespace saccade::ui {

inline constexpr int kPageVersion = 1;
inline constexpr std::size_t kMostMessage_bytes = 4096;

struct HelloMessage {
  int version = 0;
  std::string token;
};
struct AckMessage {
  std::uint32_t seq = 0;
};
struct HiddenMessage {
  bool hidden = false;
};
struct TakeMessage {};
struct PingMessage {
  double t = 0;  // given back as it came
};

struct ResizeInput {
  int width_px = 0, height_px = 0;
  float ratio = 1;
};
struct SeekInput {
  double t_s = 0;
};
struct StepInput {
  int frames = 0;
};
struct SetInput {
  enum class What : std::uint8_t { kView, kLevel, kSpeed, kPaused, kLoop, kPanel, kQuality };
  What what = What::kPaused;
  View view = View::kFrame;  // of kView
  double number = 0;         // of the others; booleans 0 or 1; quality -1: by the link
};
struct AskInput {
  enum class What : std::uint8_t { kSettings, kScreenshot, kLine };
  What what = What::kSettings;
};

using Input = std::variant<MoveInput, ButtonInput, WheelInput, KeyInput, PasteInput, ResizeInput, SeekInput, StepInput,
                           SetInput, AskInput>;
struct InputMessage {
  std::uint32_t number = 0;
  Input input;
};
using ClientMessage = std::variant<HelloMessage, AckMessage, HiddenMessage, TakeMessage, PingMessage, InputMessage>;

// Numbers are finite and clamped to what the viewer can use. nullopt: not a message.
std::optional<ClientMessage> parse_client_message(std::string_view text);

}  // namespace saccade::ui
