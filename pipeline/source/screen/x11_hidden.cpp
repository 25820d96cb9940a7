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

// Of the windows that lie on the root the one that is `window` or holds it.
xcb_window_t on_root(const Connection& connection, xcb_window_t window) {
  xcb_connection_t* const c = connection.get();
  while (true) {
    const Reply<xcb_query_tree_reply_t> tree(xcb_query_tree_reply(c, xcb_query_tree(c, window), nullptr));
    if (!tree || tree->parent == XCB_NONE) return XCB_NONE;
    if (tree->parent == tree->root) return window;
    window = tree->parent;
  }
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
  xcb_connection_t* const c = connection.get();
  std::vector<xcb_window_t> candidates = root_windows(connection);  // menus, too
  for (const xcb_window_t listed : top_windows(connection)) candidates.push_back(listed);
  std::vector<PixelRect> found;
  for (const xcb_window_t candidate : candidates) {
    if (!is_named(connection, candidate, names)) continue;
    const xcb_window_t window = on_root(connection, candidate);
    const auto shown = xcb_get_window_attributes(c, window);
    const auto placed = xcb_get_geometry(c, window);
    const Reply<xcb_get_window_attributes_reply_t> state(xcb_get_window_attributes_reply(c, shown, nullptr));
    const Reply<xcb_get_geometry_reply_t> box(xcb_get_geometry_reply(c, placed, nullptr));
    if (!state || !box || state->map_state != XCB_MAP_STATE_VIEWABLE) continue;
    const int border = box->border_width;
    const PixelRect rect{box->x, box->y, box->width + 2 * border, box->height + 2 * border};
    if (std::find(found.begin(), found.end(), rect) == found.end()) found.push_back(rect);
  }
  return found;
}

}  // namespace saccade::x11
