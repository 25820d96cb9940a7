#include "pipeline/source/screen/x11.h"

#include <fmt/format.h>

#include <sys/uio.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <span>

#include "pipeline/error.h"

namespace saccade::x11 {
namespace {

const char* why_not(int error) {
  switch (error) {
    case XCB_CONN_CLOSED_PARSE_ERR:
      return "no display can have that name";
    case XCB_CONN_CLOSED_INVALID_SCREEN:
      return "the display has no such screen";
    default:
      return "no X server answers";
  }
}

template <typename T, typename Cookie, typename Ask>
Reply<T> wait_for(const Connection& connection, Cookie cookie, Ask ask) {
  return Reply<T>(ask(connection.get(), cookie, nullptr));
}

xcb_atom_t atom(const Connection& connection, std::string_view name) {
  const auto cookie = xcb_intern_atom(connection.get(), 1, static_cast<std::uint16_t>(name.size()), name.data());
  const auto reply = wait_for<xcb_intern_atom_reply_t>(connection, cookie, xcb_intern_atom_reply);
  return reply ? reply->atom : xcb_atom_t{XCB_ATOM_NONE};
}

xcb_get_property_cookie_t ask_property(const Connection& connection, xcb_window_t window, xcb_atom_t of) {
  constexpr std::uint32_t kMostWords = 1024;
  return xcb_get_property(connection.get(), 0, window, of, XCB_ATOM_ANY, 0, kMostWords);
}

// Null: the window lacks it, or is gone.
Reply<xcb_get_property_reply_t> property(const Connection& connection, xcb_get_property_cookie_t asked) {
  return wait_for<xcb_get_property_reply_t>(connection, asked, xcb_get_property_reply);
}

std::string text(const Reply<xcb_get_property_reply_t>& reply) {
  if (!reply || reply->format != 8) return "";
  return {static_cast<const char*>(xcb_get_property_value(reply.get())),
          static_cast<std::size_t>(xcb_get_property_value_length(reply.get()))};
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

Connection::Connection(const std::string& display, const std::string& uri) : uri_(uri) {
  load_calls(uri);
  int number = 0;
  connection_.reset(xcb_connect(display.empty() ? nullptr : display.c_str(), &number));
  if (const int error = xcb_connection_has_error(get()); error != 0) {
    const char* const named = display.empty() ? std::getenv("DISPLAY") : display.c_str();
    if (named == nullptr || *named == '\0') {
      throw UnavailableError(fmt::format("{}: $DISPLAY is not set; name the display, as screen::0", uri));
    }
    throw UnavailableError(fmt::format(
        "{}: display {}: {}; check the name, and that this user may use it ($XAUTHORITY)", uri, named, why_not(error)));
  }
  xcb_screen_iterator_t at = xcb_setup_roots_iterator(xcb_get_setup(get()));
  for (; number > 0 && at.rem > 1; --number) xcb_screen_next(&at);
  screen_ = at.data;
}

Reply<xcb_query_extension_reply_t> Connection::find(std::string_view extension) const {
  const auto cookie = xcb_query_extension(get(), static_cast<std::uint16_t>(extension.size()), extension.data());
  auto reply = wait_for<xcb_query_extension_reply_t>(*this, cookie, xcb_query_extension_reply);
  if (reply && reply->present == 0) reply.reset();
  return reply;
}

Reply<xcb_query_extension_reply_t> Connection::need(std::string_view extension) const {
  auto found = find(extension);
  if (found) return found;
  throw UnavailableError(
      fmt::format("{}: the X server lacks the extension {}, which capturing needs", uri_, extension));
}

// MIT-SCREEN-SAVER's SelectInput, by hand: its library is not everywhere. xcb_send_request() needs two free vectors
// before the first one, and writes the first byte.
std::uint8_t select_saver_events(const Connection& connection) {
  const auto extension = connection.find("MIT-SCREEN-SAVER");
  if (!extension) return 0;
  struct {
    std::uint8_t major = 0, minor = 2;
    std::uint16_t length_words = 3;
    xcb_window_t drawable = XCB_NONE;
    std::uint32_t events = 1;  // ScreenSaverNotify
  } request{.drawable = connection.screen().root};
  std::array<iovec, 3> parts{};
  parts[2] = {&request, sizeof request};
  const xcb_protocol_request_t form{1, nullptr, extension->major_opcode, 1};
  xcb_send_request(connection.get(), 0, &parts[2], &form);
  return extension->first_event;
}

std::vector<Output> outputs(const Connection& connection) {
  std::vector<Output> found;
  if (!connection.find("RANDR")) return found;
  xcb_connection_t* const c = connection.get();
  const auto resources = wait_for<xcb_randr_get_screen_resources_current_reply_t>(
      connection, xcb_randr_get_screen_resources_current(c, connection.screen().root),
      xcb_randr_get_screen_resources_current_reply);
  if (!resources) return found;
  const std::span ids(xcb_randr_get_screen_resources_current_outputs(resources.get()),
                      static_cast<std::size_t>(xcb_randr_get_screen_resources_current_outputs_length(resources.get())));
  for (const xcb_randr_output_t id : ids) {
    const auto output = wait_for<xcb_randr_get_output_info_reply_t>(
        connection, xcb_randr_get_output_info(c, id, resources->config_timestamp), xcb_randr_get_output_info_reply);
    if (!output || output->crtc == XCB_NONE) continue;
    const auto crtc = wait_for<xcb_randr_get_crtc_info_reply_t>(
        connection, xcb_randr_get_crtc_info(c, output->crtc, resources->config_timestamp),
        xcb_randr_get_crtc_info_reply);
    if (!crtc || crtc->width == 0) continue;
    const auto* const name = reinterpret_cast<const char*>(xcb_randr_get_output_info_name(output.get()));
    found.push_back({std::string(name, static_cast<std::size_t>(xcb_randr_get_output_info_name_length(output.get()))),
                     {crtc->x, crtc->y, crtc->width, crtc->height}});
  }
  return found;
}

std::optional<xcb_window_t> window_number(const std::string& text) {
  const bool hex = text.starts_with("0x");
  xcb_window_t id = 0;
  const char* const end = text.data() + text.size();
  const auto [at, fault] = std::from_chars(text.data() + (hex ? 2 : 0), end, id, hex ? 16 : 10);
  if (fault != std::errc() || at != end) return std::nullopt;
  return id;
}

std::vector<xcb_window_t> root_windows(const Connection& connection) {
  const auto tree = wait_for<xcb_query_tree_reply_t>(
      connection, xcb_query_tree(connection.get(), connection.screen().root), xcb_query_tree_reply);
  if (!tree) return {};
  const xcb_window_t* const ids = xcb_query_tree_children(tree.get());
  return {ids, ids + xcb_query_tree_children_length(tree.get())};
}

std::vector<xcb_window_t> top_windows(const Connection& connection) {
  const xcb_atom_t list = atom(connection, "_NET_CLIENT_LIST");
  const auto listed = property(connection, ask_property(connection, connection.screen().root, list));
  if (!listed || listed->format != 32 || xcb_get_property_value_length(listed.get()) <= 0) {
    return root_windows(connection);
  }
  const auto* const ids = static_cast<const xcb_window_t*>(xcb_get_property_value(listed.get()));
  return {ids, ids + xcb_get_property_value_length(listed.get()) / 4};
}

std::vector<std::vector<std::string>> window_texts(const Connection& connection,
                                                   const std::vector<xcb_window_t>& windows) {
  const std::array<xcb_atom_t, 3> wanted{atom(connection, "_NET_WM_NAME"), XCB_ATOM_WM_NAME, XCB_ATOM_WM_CLASS};
  std::vector<xcb_get_property_cookie_t> asked;
  for (const xcb_window_t window : windows) {
    for (const xcb_atom_t of : wanted) asked.push_back(ask_property(connection, window, of));
  }
  std::vector<std::vector<std::string>> texts(windows.size());
  for (std::size_t n = 0; n < asked.size(); ++n) {
    texts[n / wanted.size()].push_back(text(property(connection, asked[n])));
  }
  return texts;
}

std::vector<Window> windows(const Connection& connection) {
  std::vector<Window> found;
  xcb_connection_t* const c = connection.get();
  const xcb_atom_t name = atom(connection, "_NET_WM_NAME");
  for (const xcb_window_t id : top_windows(connection)) {
    const auto ask = [&](xcb_atom_t of) { return text(property(connection, ask_property(connection, id, of))); };
    Window window{.id = id, .title = ask(name)};
    if (window.title.empty()) window.title = ask(XCB_ATOM_WM_NAME);
    const auto attributes = wait_for<xcb_get_window_attributes_reply_t>(connection, xcb_get_window_attributes(c, id),
                                                                        xcb_get_window_attributes_reply);
    const auto geometry =
        wait_for<xcb_get_geometry_reply_t>(connection, xcb_get_geometry(c, id), xcb_get_geometry_reply);
    if (window.title.empty() || !attributes || !geometry || attributes->map_state != XCB_MAP_STATE_VIEWABLE) continue;
    window.width_px = geometry->width;
    window.height_px = geometry->height;
    found.push_back(std::move(window));
  }
  return found;
}

std::optional<PixelRect> box_on_root(const Connection& connection, xcb_window_t window) {
  xcb_connection_t* const c = connection.get();
  window = on_root(connection, window);
  const auto shown = xcb_get_window_attributes(c, window);
  const auto placed = xcb_get_geometry(c, window);
  const Reply<xcb_get_window_attributes_reply_t> state(xcb_get_window_attributes_reply(c, shown, nullptr));
  const Reply<xcb_get_geometry_reply_t> box(xcb_get_geometry_reply(c, placed, nullptr));
  if (!state || !box || state->map_state != XCB_MAP_STATE_VIEWABLE) return std::nullopt;
  const int border = box->border_width;
  return PixelRect{box->x, box->y, box->width + 2 * border, box->height + 2 * border};
}

std::optional<PixelRect> focused_box(const Connection& connection) {
  const auto focus = wait_for<xcb_get_input_focus_reply_t>(connection, xcb_get_input_focus(connection.get()),
                                                           xcb_get_input_focus_reply);
  if (!focus || focus->focus <= XCB_INPUT_FOCUS_POINTER_ROOT) return std::nullopt;
  return box_on_root(connection, focus->focus);
}

}  // namespace saccade::x11
