#include "pipeline/source/screen/x11_hidden.h"

#include <algorithm>

namespace saccade::x11 {
namespace {

bool is_named(const Connection& connection, xcb_window_t window, const std::vector<std::string>& names) {
  const std::vector<std::string> texts = window_texts(connection, window);
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    if (window_number(name) == window) return true;
    return std::any_of(texts.begin(), texts.end(),
                       [&](const std::string& text) { return text.find(name) != std::string::npos; });
  });
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

std::vector<PixelRect> boxes_of_windows(const Connection& connection, const std::vector<std::string>& names) {
  std::vector<xcb_window_t> candidates = root_windows(connection);  // menus, too
  for (const xcb_window_t listed : top_windows(connection)) candidates.push_back(listed);
  std::vector<PixelRect> found;
  for (const xcb_window_t candidate : candidates) {
    if (!is_named(connection, candidate, names)) continue;
    const auto box = box_on_root(connection, candidate);
    if (box && std::find(found.begin(), found.end(), *box) == found.end()) found.push_back(*box);
  }
  return found;
}

}  // namespace saccade::x11
