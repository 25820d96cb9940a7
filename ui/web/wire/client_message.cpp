#include "ui/web/wire/client_message.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <system_error>
#include <type_traits>
#include <utility>

namespace saccade::ui {
namespace {

constexpr float kFar_px = 20000;
constexpr float kMostNotches = 20;
constexpr double kFar_s = 1e9;

// The words of a message, one after the other. A word is never empty.
class Words {
 public:
  explicit Words(std::string_view text) : rest_(text) {}

  std::optional<std::string_view> word() {
    if (failed_ || ended_) return fail<std::string_view>();
    const std::size_t space = rest_.find(' ');
    const std::string_view found = rest_.substr(0, space);
    if (found.empty()) return fail<std::string_view>();
    ended_ = space == std::string_view::npos;
    rest_ = ended_ ? std::string_view() : rest_.substr(space + 1);
    return found;
  }
  std::string_view take_rest() {
    ended_ = true;
    return std::exchange(rest_, {});
  }
  template <typename Number>
  Number number() {
    const auto text = word();
    Number value{};
    if (!text) return value;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
    bool good = error == std::errc{} && end == text->data() + text->size();
    if constexpr (std::is_floating_point_v<Number>) good = good && std::isfinite(value);
    if (!good) fail<int>();
    return good ? value : Number{};
  }
  template <typename Number>
  Number number(Number low, Number high) {
    return std::clamp(number<Number>(), low, high);
  }
  bool flag() {
    const auto text = word();
    if (!text || (*text != "0" && *text != "1")) fail<int>();
    return text && *text == "1";
  }
  void refuse() { failed_ = true; }
  bool whole() const { return !failed_ && ended_; }  // all was read, and all of it was good

 private:
  template <typename T>
  std::optional<T> fail() {
    failed_ = true;
    return std::nullopt;
  }
  std::string_view rest_;
  bool failed_ = false, ended_ = false;
};

struct SilentName {
  std::string_view name;
  SilentKey key;
  char32_t character;
};
constexpr SilentName kSilent[] = {
    {"Tab", SilentKey::kTab, 0},       {"ArrowLeft", SilentKey::kLeft, 0},      {"ArrowRight", SilentKey::kRight, 0},
    {"ArrowUp", SilentKey::kUp, 0},    {"ArrowDown", SilentKey::kDown, 0},      {"Home", SilentKey::kToStart, 0},
    {"End", SilentKey::kToEnd, 0},     {"PageUp", SilentKey::kPageUp, 0},       {"PageDown", SilentKey::kPageDown, 0},
    {"Delete", SilentKey::kDelete, 0}, {"Backspace", SilentKey::kBackspace, 0}, {"Enter", SilentKey::kEnter, 0},
    {"Escape", SilentKey::kEscape, 0}, {"Space", SilentKey::kSpace, U' '}};

// Signs by the key's code in the DOM; letters and digits are in their names.
struct PlaceName {
  std::string_view code;
  char32_t place;
};
constexpr PlaceName kPlaces[] = {{"Minus", U'-'},     {"Equal", U'='},  {"BracketLeft", U'['}, {"BracketRight", U']'},
                                 {"Semicolon", U';'}, {"Quote", U'\''}, {"Backquote", U'`'},   {"Backslash", U'\\'},
                                 {"Comma", U','},     {"Period", U'.'}, {"Slash", U'/'}};

char32_t place_of(std::string_view code) {
  if (code.size() == 4 && code.starts_with("Key") && code[3] >= 'A' && code[3] <= 'Z') {
    return static_cast<char32_t>(code[3] - 'A' + 'a');
  }
  if (code.size() == 6 && code.starts_with("Digit") && code[5] >= '0' && code[5] <= '9') {
    return static_cast<char32_t>(code[5]);
  }
  const auto* found =
      std::find_if(std::begin(kPlaces), std::end(kPlaces), [code](const PlaceName& name) { return name.code == code; });
  return found == std::end(kPlaces) ? 0 : found->place;
}

// The first character and how many bytes it takes; 0 bytes: the text is no UTF-8.
struct Decoded {
  char32_t character = 0;
  std::size_t bytes = 0;
};
Decoded decode(std::string_view text) {
  if (text.empty()) return {};
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t bytes = lead < 0x80                   ? 1
                            : lead >= 0xc2 && lead < 0xe0 ? 2
                            : lead >= 0xe0 && lead < 0xf0 ? 3
                            : lead >= 0xf0 && lead < 0xf5 ? 4
                                                          : 0;
  if (bytes == 0 || text.size() < bytes) return {};
  char32_t character = bytes == 1 ? lead : lead & (0x7fU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0U) != 0x80) return {};
    character = character << 6U | (next & 0x3fU);
  }
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (character < kLeast[bytes] || character > 0x10ffff || (character >= 0xd800 && character < 0xe000)) return {};
  return {character, bytes};
}

bool is_control(char32_t c) { return c < 0x20 || (c >= 0x7f && c < 0xa0); }

// Of a word: a key's name in the DOM, or the character that it types. Names that mean nothing here are keys as well.
void read_key(std::string_view word, KeyInput& key, Words& words) {
  for (const SilentName& silent : kSilent) {
    if (silent.name != word) continue;
    key.silent = silent.key;
    key.character = silent.character;
    return;
  }
  const Decoded first = decode(word);
  if (first.bytes == 0) return words.refuse();
  if (first.bytes == word.size() && !is_control(first.character)) key.character = first.character;
}

KeyInput read_key_input(Words& words) {
  KeyInput key;
  const auto way = words.word();
  key.down = way == "down";
  if (way != "down" && way != "up") words.refuse();
  if (const auto word = words.word()) read_key(*word, key, words);
  const auto modifiers = words.number<unsigned>(0, 31);
  key.shift = (modifiers & 1U) != 0;
  key.control = (modifiers & 2U) != 0;
  key.alt = (modifiers & 4U) != 0;
  key.meta = (modifiers & 8U) != 0;
  key.repeated = (modifiers & 16U) != 0;
  if (const auto code = words.word()) key.place = place_of(*code);
  return key;
}

PasteInput read_paste(Words& words) {
  PasteInput paste;
  std::string_view text = words.take_rest();
  while (!text.empty()) {
    const Decoded next = decode(text);
    if (next.bytes == 0) {
      words.refuse();
      return {};
    }
    if (!is_control(next.character)) paste.text += text.substr(0, next.bytes);
    text.remove_prefix(next.bytes);
  }
  return paste;
}

SetInput read_set(Words& words) {
  using What = SetInput::What;
  SetInput set;
  const auto name = words.word();
  if (name == "view") {
    const auto value = words.word();
    const auto view = value ? from_name<View>(std::string(*value)) : std::nullopt;
    if (!view) words.refuse();
    set.what = What::kView;
    set.view = view.value_or(View::kFrame);
  } else if (name == "level") {
    set.what = What::kLevel;
    set.number = words.number(0, 9);
  } else if (name == "speed") {
    set.what = What::kSpeed;
    set.number = words.number(0.1, 16.0);
  } else if (name == "paused" || name == "loop" || name == "panel") {
    set.what = name == "paused" ? What::kPaused : name == "loop" ? What::kLoop : What::kPanel;
    set.number = words.flag() ? 1 : 0;
  } else if (name == "quality") {
    set.what = What::kQuality;
    set.number = words.number(-1, 99);
  } else {
    words.refuse();
  }
  return set;
}

AskInput read_ask(Words& words) {
  const auto what = words.word();
  if (what == "settings") return {AskInput::What::kSettings};
  if (what == "screenshot") return {AskInput::What::kScreenshot};
  if (what != "line") words.refuse();
  return {AskInput::What::kLine};
}

std::optional<Input> read_input(std::string_view kind, Words& words) {
  const auto pixels = [&words] { return words.number(-kFar_px, kFar_px); };
  const auto notches = [&words] { return words.number(-kMostNotches, kMostNotches); };
  // In braces, arguments are read from the left.
  if (kind == "move") return MoveInput{pixels(), pixels(), true};
  if (kind == "leave") return MoveInput{-kFar_px, -kFar_px, false};
  if (kind == "press") return ButtonInput{pixels(), pixels(), words.number(0, 2), true};
  if (kind == "release") return ButtonInput{pixels(), pixels(), words.number(0, 2), false};
  if (kind == "wheel") return WheelInput{pixels(), pixels(), notches(), notches()};
  if (kind == "key") return read_key_input(words);
  if (kind == "paste") return read_paste(words);
  if (kind == "resize") return ResizeInput{words.number(320, 3840), words.number(200, 2160), words.number(0.5f, 4.0f)};
  if (kind == "seek") return SeekInput{words.number(0.0, kFar_s)};
  if (kind == "step") return StepInput{words.number(-1, 1)};
  if (kind == "set") return read_set(words);
  if (kind == "ask") return read_ask(words);
  return std::nullopt;
}

}  // namespace

std::optional<ClientMessage> parse_client_message(std::string_view text) {
  if (text.size() > kMostMessage_bytes) return std::nullopt;
  Words words(text);
  const auto kind = words.word();
  if (!kind) return std::nullopt;
  std::optional<ClientMessage> message;
  if (*kind == "hello") {
    HelloMessage hello{words.number<int>(), {}};
    if (const auto token = words.word()) hello.token = *token;
    message = hello;
  } else if (*kind == "ack") {
    message = AckMessage{words.number<std::uint32_t>()};
  } else if (*kind == "hidden") {
    message = HiddenMessage{words.flag()};
  } else if (*kind == "take") {
    message = TakeMessage{};
  } else if (*kind == "ping") {
    message = PingMessage{words.number<double>()};
  } else {
    const auto number = words.number<std::uint32_t>();
    if (auto input = read_input(*kind, words)) message = InputMessage{number, *std::move(input)};
  }
  return words.whole() ? message : std::nullopt;
}

}  // namespace saccade::ui
