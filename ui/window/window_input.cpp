#include "ui/window/window_input.h"

#include <algorithm>
#include <utility>

#include "ui/input/imgui_input.h"

namespace saccade::ui {
namespace {

constexpr int kSettleRedraws = 3;

constexpr std::pair<int, SilentKey> kSilent[] = {
    {GLFW_KEY_SPACE, SilentKey::kSpace},         {GLFW_KEY_TAB, SilentKey::kTab},
    {GLFW_KEY_BACKSPACE, SilentKey::kBackspace}, {GLFW_KEY_DELETE, SilentKey::kDelete},
    {GLFW_KEY_ESCAPE, SilentKey::kEscape},       {GLFW_KEY_ENTER, SilentKey::kEnter},
    {GLFW_KEY_KP_ENTER, SilentKey::kEnter},      {GLFW_KEY_LEFT, SilentKey::kLeft},
    {GLFW_KEY_RIGHT, SilentKey::kRight},         {GLFW_KEY_UP, SilentKey::kUp},
    {GLFW_KEY_DOWN, SilentKey::kDown},           {GLFW_KEY_HOME, SilentKey::kToStart},
    {GLFW_KEY_END, SilentKey::kToEnd},           {GLFW_KEY_PAGE_UP, SilentKey::kPageUp},
    {GLFW_KEY_PAGE_DOWN, SilentKey::kPageDown}};

SilentKey silent_key(int key) {
  const auto* found =
      std::find_if(std::begin(kSilent), std::end(kSilent), [key](const auto& k) { return k.first == key; });
  return found == std::end(kSilent) ? SilentKey::kNone : found->second;
}

// GLFW names its keys by what they type on a keyboard of the United States, in capitals.
char32_t place_of(int key) {
  if (key >= GLFW_KEY_A && key <= GLFW_KEY_Z) return static_cast<char32_t>(key - GLFW_KEY_A + 'a');
  return key > GLFW_KEY_SPACE && key <= GLFW_KEY_GRAVE_ACCENT ? static_cast<char32_t>(key) : 0;
}

// Whether a modifier is held after this event. X11 reports it as it was before.
bool is_held(int mods, int modifier, int key, int action, std::pair<int, int> keys) {
  if (key == keys.first || key == keys.second) return action != GLFW_RELEASE;
  return (mods & modifier) != 0;
}

// Of the layout in force: a key that has a letter in every script.
bool has_latin_letters() {
  const char* name = glfwGetKeyName(GLFW_KEY_F, 0);
  return name == nullptr || static_cast<unsigned char>(*name) < 0x80;
}

}  // namespace

WindowInput* WindowInput::of(GLFWwindow* window) {
  auto* input = static_cast<WindowInput*>(glfwGetWindowUserPointer(window));
  input->events_.redraws = kSettleRedraws;
  return input;
}

WindowInput::WindowInput(GLFWwindow* window) : window_(window) {
  glfwSetWindowUserPointer(window, this);
  glfwSetKeyCallback(window, [](GLFWwindow* w, int key, int, int action, int mods) { of(w)->key(key, action, mods); });
  glfwSetMouseButtonCallback(window, [](GLFWwindow* w, int button, int action, int) { of(w)->button(button, action); });
  glfwSetCursorPosCallback(window, [](GLFWwindow* w, double x, double y) { of(w)->cursor(x, y); });
  glfwSetCursorEnterCallback(window, [](GLFWwindow* w, int entered) {
    if (WindowInput* input = of(w); entered == GLFW_FALSE) input->leave();
  });
  glfwSetScrollCallback(window, [](GLFWwindow* w, double dx, double dy) { of(w)->wheel(dx, dy); });
  glfwSetFramebufferSizeCallback(window, [](GLFWwindow* w, int, int) { of(w); });
  glfwSetWindowRefreshCallback(window, [](GLFWwindow* w) { of(w); });
  glfwSetCharCallback(window, [](GLFWwindow* w, unsigned character) { of(w)->character(character); });
  glfwSetDropCallback(window, [](GLFWwindow* w, int count, const char** paths) {
    WindowInput* input = of(w);
    if (count > 0) input->events_.dropped = paths[0];
  });
  for (const auto& [name, shape] : {std::pair{"text", GLFW_IBEAM_CURSOR},
                                    {"pointer", GLFW_HAND_CURSOR},
                                    {"ew-resize", GLFW_HRESIZE_CURSOR},
                                    {"ns-resize", GLFW_VRESIZE_CURSOR}}) {
    cursors_.push_back({name, glfwCreateStandardCursor(shape)});
  }
  events_.redraws = kSettleRedraws;
}

WindowInput::~WindowInput() {
  for (const Cursor& cursor : cursors_) glfwDestroyCursor(cursor.shape);
}

void WindowInput::attach(Viewer& viewer) {
  panel_.emplace(viewer);
  double x = 0, y = 0;
  glfwGetCursorPos(window_, &x, &y);
  at_ = place(x, y);
  set_imgui_clipboard({[this] {
                         const char* text = glfwGetClipboardString(window_);
                         return std::string(text == nullptr ? "" : text);
                       },
                       [this](const std::string& text) { glfwSetClipboardString(window_, text.c_str()); }});
}

void WindowInput::deliver(const ViewSize& size) {
  if (!panel_) return;
  panel_->set_size(size);
  for (const Event& event : std::exchange(waiting_, {})) {
    std::visit([this](const auto& input) { panel_->apply(input); }, event);
  }
}

void WindowInput::show_cursor() {
  const std::string_view wanted = imgui_cursor();
  if (wanted == shown_cursor_) return;
  shown_cursor_ = wanted;
  const auto found = std::find_if(cursors_.begin(), cursors_.end(), [&](const Cursor& c) { return c.name == wanted; });
  glfwSetCursor(window_, found == cursors_.end() ? nullptr : found->shape);
}

// What it types follows at once, as a character.
void WindowInput::key(int key, int action, int mods) {
  const auto held = [&](int modifier, int left, int right) {
    return is_held(mods, modifier, key, action, {left, right});
  };
  KeyInput input;
  input.silent = silent_key(key);
  input.place = place_of(key);
  input.down = action != GLFW_RELEASE;
  input.repeated = action == GLFW_REPEAT;
  input.shift = held(GLFW_MOD_SHIFT, GLFW_KEY_LEFT_SHIFT, GLFW_KEY_RIGHT_SHIFT);
  input.control = held(GLFW_MOD_CONTROL, GLFW_KEY_LEFT_CONTROL, GLFW_KEY_RIGHT_CONTROL);
  input.alt = held(GLFW_MOD_ALT, GLFW_KEY_LEFT_ALT, GLFW_KEY_RIGHT_ALT);
  input.meta = held(GLFW_MOD_SUPER, GLFW_KEY_LEFT_SUPER, GLFW_KEY_RIGHT_SUPER);
  waiting_.emplace_back(input);
}

// A key that types more than one, or an input method, gives characters without a key.
void WindowInput::character(char32_t character) {
  auto* key = waiting_.empty() ? nullptr : std::get_if<KeyInput>(&waiting_.back());
  if (key == nullptr || !key->down || key->character != 0) {
    waiting_.emplace_back(KeyInput{.down = true});
    key = &std::get<KeyInput>(waiting_.back());
  }
  key->character = character;
  key->latin = has_latin_letters();
}

// Cursor positions are in the window's units, which on some systems are not pixels.
MoveInput WindowInput::place(double x, double y) const {
  int width = 1, height = 1, pixel_width = 1, pixel_height = 1;
  glfwGetWindowSize(window_, &width, &height);
  glfwGetFramebufferSize(window_, &pixel_width, &pixel_height);
  const double ratio_x = static_cast<double>(pixel_width) / std::max(width, 1);
  const double ratio_y = static_cast<double>(pixel_height) / std::max(height, 1);
  return {static_cast<float>(x * ratio_x), static_cast<float>(y * ratio_y), true};
}

void WindowInput::button(int button, int action) {
  if (button > GLFW_MOUSE_BUTTON_MIDDLE) return;
  const bool down = action == GLFW_PRESS;
  buttons_ = down ? buttons_ | 1 << button : buttons_ & ~(1 << button);
  waiting_.emplace_back(ButtonInput{at_.x, at_.y, button, down});
}

// Of many moves in a row the last one counts. A press was where the move before it led: what glfwGetCursorPos() says
// may be later.
void WindowInput::cursor(double x, double y) {
  at_ = place(x, y);
  if (!waiting_.empty() && std::holds_alternative<MoveInput>(waiting_.back())) waiting_.pop_back();
  waiting_.emplace_back(at_);
}

// While a button is held the window gets the mouse's moves wherever it is.
void WindowInput::leave() {
  if (buttons_ == 0) waiting_.emplace_back(MoveInput{0, 0, false});
}

void WindowInput::wheel(double dx, double dy) {
  waiting_.emplace_back(WheelInput{at_.x, at_.y, static_cast<float>(dx), static_cast<float>(dy)});
}

// The one that shows most of the window.
GLFWmonitor* WindowInput::monitor() const {
  int x = 0, y = 0, width = 0, height = 0, count = 0;
  glfwGetWindowPos(window_, &x, &y);
  glfwGetWindowSize(window_, &width, &height);
  GLFWmonitor* const* monitors = glfwGetMonitors(&count);
  GLFWmonitor* best = glfwGetPrimaryMonitor();
  long most = 0;
  for (int i = 0; i < count; ++i) {
    int left = 0, top = 0;
    glfwGetMonitorPos(monitors[i], &left, &top);
    const GLFWvidmode* mode = glfwGetVideoMode(monitors[i]);
    if (mode == nullptr) continue;
    const long across = std::min(x + width, left + mode->width) - std::max(x, left);
    const long down = std::min(y + height, top + mode->height) - std::max(y, top);
    if (across <= 0 || down <= 0 || across * down <= most) continue;
    most = across * down;
    best = monitors[i];
  }
  return best;
}

bool WindowInput::set_fullscreen(bool on) {
  if (on == (glfwGetWindowMonitor(window_) != nullptr)) return on;
  if (!on) {
    glfwSetWindowMonitor(window_, nullptr, windowed_x_, windowed_y_, windowed_width_, windowed_height_, GLFW_DONT_CARE);
    return false;
  }
  GLFWmonitor* wanted = monitor();
  const GLFWvidmode* mode = wanted == nullptr ? nullptr : glfwGetVideoMode(wanted);
  if (mode == nullptr) return false;
  glfwGetWindowPos(window_, &windowed_x_, &windowed_y_);
  glfwGetWindowSize(window_, &windowed_width_, &windowed_height_);
  glfwSetWindowMonitor(window_, wanted, 0, 0, mode->width, mode->height, mode->refreshRate);
  return true;
}

}  // namespace saccade::ui
