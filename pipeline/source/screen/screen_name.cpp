#include "pipeline/source/screen/screen_name.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "pipeline/error.h"
#include "pipeline/source/frame/input_name.h"

namespace saccade {
namespace {

constexpr double kLowestRate = 0.01, kHighestRate = 240;
constexpr int kLargest_px = 1 << 20;  // so that sums of two fit an int; the screens of X11 end at 1 << 15

[[noreturn]] void refuse(const std::string& uri, const std::string& what) {
  throw UsageError(fmt::format(
      "{}: {}; write screen:DISPLAY?KEY=VALUE&KEY=VALUE, with DISPLAY as :0, x11, wayland or left out, and these keys: "
      "region=X,Y,WIDTH,HEIGHT or window=ID|TITLE|any or output=NAME|any, hide=X,Y,WIDTH,HEIGHT|ID|TITLE, "
      "pointer=yes|no, cues=yes|no, rate=FRAMES_PER_SECOND, restore=FILE",
      uri, what));
}

template <typename T>
bool parse_number(std::string_view text, T& out) {
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), out);
  return fault == std::errc() && end == text.data() + text.size();
}

std::optional<PixelRect> parse_region(std::string_view text) {
  std::array<int, 4> numbers{};
  for (std::size_t n = 0; n < numbers.size(); ++n) {
    const std::size_t comma = text.find(',');
    if ((comma == std::string_view::npos) != (n + 1 == numbers.size())) return std::nullopt;
    if (!parse_number(text.substr(0, comma), numbers[n]) || numbers[n] > kLargest_px) return std::nullopt;
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  const PixelRect rect{numbers[0], numbers[1], numbers[2], numbers[3]};
  if (rect.x < 0 || rect.y < 0 || rect.width <= 0 || rect.height <= 0) return std::nullopt;
  return rect;
}

// A region that can't be read must not pass for a title: nothing would be hidden.
bool hide(std::string_view value, ScreenName& name) {
  if (const auto region = parse_region(value)) {
    name.hidden_regions.push_back(*region);
    return true;
  }
  const bool numbers = value.find_first_not_of("0123456789,+-. ") == std::string_view::npos;
  if (value.empty() || (numbers && value.find(',') != std::string_view::npos)) return false;
  name.hidden_windows.emplace_back(value);
  return true;
}

bool apply(std::string_view key, std::string_view value, ScreenName& name) {
  if (key == "region") return (name.region = parse_region(value)).has_value();
  if (key == "window") return !(name.window = value).empty();
  if (key == "output") return !(name.output = value).empty();
  if (key == "restore") return !(name.restore = value).empty();
  if (key == "hide") return hide(value, name);
  if (key == "rate") return parse_number(value, name.rate) && name.rate >= kLowestRate && name.rate <= kHighestRate;
  if ((key != "pointer" && key != "cues") || (value != "yes" && value != "no")) return false;
  (key == "pointer" ? name.pointer : name.cues) = value == "yes";
  return true;
}

bool is_wayland_desktop() {
  const auto value = [](const char* name) {
    const char* const text = std::getenv(name);
    return std::string_view(text != nullptr ? text : "");
  };
  return !value("WAYLAND_DISPLAY").empty() || value("XDG_SESSION_TYPE") == "wayland";
}

void place(std::string_view text, ScreenName& name) {
  const bool is_wayland = text.empty() ? is_wayland_desktop() : text == "wayland";
  name.system = is_wayland ? ScreenSystem::kWayland : ScreenSystem::kX11;
  if (!is_wayland && text != "x11") name.display = text;
}

}  // namespace

std::string describe_hidden(const ScreenName& name) {
  std::vector<std::string> parts;
  for (const std::string& window : name.hidden_windows) parts.push_back(fmt::format("windows '{}'", window));
  for (const PixelRect& rect : name.hidden_regions) {
    parts.push_back(fmt::format("the region {},{},{},{}", rect.x, rect.y, rect.width, rect.height));
  }
  if (parts.empty()) return "";
  const bool one = name.hidden_windows.empty() && name.hidden_regions.size() == 1;
  return fmt::format("{} {} black", fmt::join(parts, " and "), one ? "is" : "are");
}

ScreenName parse_screen_name(const std::string& uri) {
  ScreenName name;
  std::string_view rest = std::string_view(uri).substr(kScreenScheme.size());
  std::size_t end = rest.find('?');
  place(rest.substr(0, end), name);
  while (end != std::string_view::npos) {
    rest = rest.substr(end + 1);
    end = rest.find('&');
    const std::string_view item = rest.substr(0, end);
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos || !apply(item.substr(0, equals), item.substr(equals + 1), name)) {
      refuse(uri, fmt::format("'{}' can't be read", item));
    }
  }
  if (int{name.region.has_value()} + int{!name.window.empty()} + int{!name.output.empty()} > 1) {
    refuse(uri, "only one of region, window and output can be captured");
  }
  if (name.system == ScreenSystem::kX11 && !name.restore.empty()) refuse(uri, "X11 has no choice to restore");
  if (name.system == ScreenSystem::kWayland && !name.hidden_windows.empty()) {
    refuse(uri, "on Wayland no program can find a window; hide a region instead, hide=X,Y,WIDTH,HEIGHT");
  }
  if (!name.window.empty() && !name.hidden_windows.empty()) {
    refuse(uri, "a window is captured without those that lie over it, so none of them needs to be hidden");
  }
  return name;
}

}  // namespace saccade
