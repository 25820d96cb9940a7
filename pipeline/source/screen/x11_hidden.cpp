#include "pipeline/source/screen/x11_hidden.h"

#include <algorithm>

#include "pipeline/clock.h"

namespace saccade::x11 {
namespace {

constexpr std::int64_t kLeft_ns = 500'000'000;  // see Note [Left by hidden windows]

bool is_named(xcb_window_t window, const std::vector<std::string>& texts, const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    if (window_number(name) == window) return true;
    return std::any_of(texts.begin(), texts.end(),
                       [&](const std::string& text) { return text.find(name) != std::string::npos; });
  });
}

// The boxes of the windows that are shown and that one of `names` names. With its frame, if a window manager has put
// one around it.
std::vector<PixelRect> boxes_of_windows(const Connection& connection, const std::vector<std::string>& names) {
  std::vector<xcb_window_t> candidates = root_windows(connection);  // menus, too
  for (const xcb_window_t listed : top_windows(connection)) candidates.push_back(listed);
  const std::vector<std::vector<std::string>> texts = window_texts(connection, candidates);
  std::vector<PixelRect> found;
  for (std::size_t n = 0; n < candidates.size(); ++n) {
    if (!is_named(candidates[n], texts[n], names)) continue;
    const auto box = box_on_root(connection, candidates[n]);
    if (box && std::find(found.begin(), found.end(), *box) == found.end()) found.push_back(*box);
  }
  return found;
}

}  // namespace

GrabbedServer::GrabbedServer(const Connection& connection, bool wanted) : connection_(connection), grabbed_(wanted) {
  if (grabbed_) xcb_grab_server(connection_.get());
}

GrabbedServer::~GrabbedServer() {
  if (!grabbed_) return;
  xcb_ungrab_server(connection_.get());
  xcb_flush(connection_.get());
}

std::vector<PixelRect> HiddenWindows::boxes(const Connection& connection) {
  if (names_.empty()) return {};
  const std::int64_t now_ns = steady_now_ns();
  const std::vector<PixelRect> shown = boxes_of_windows(connection, names_);
  std::erase_if(places_, [&](Place& place) {
    if (std::find(shown.begin(), shown.end(), place.area) != shown.end()) return true;
    if (place.left_ns == 0) place.left_ns = now_ns;
    return now_ns - place.left_ns > kLeft_ns;
  });
  for (const PixelRect& area : shown) places_.push_back({area});
  std::vector<PixelRect> areas;
  for (const Place& place : places_) areas.push_back(place.area);
  return areas;
}

}  // namespace saccade::x11
