// A connection to an X server, and what can be captured there.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/frame_view.h"
#include "pipeline/source/screen/x11_calls.h"

namespace saccade::x11 {

struct FreeReply {
  void operator()(void* reply) const noexcept { std::free(reply); }
};
template <typename T>
using Reply = std::unique_ptr<T, FreeReply>;

// One screen of a display. Move-only; one thread.
class Connection {
 public:
  // display: ":0", "host:0.1"; empty: $DISPLAY. uri: for messages. Throws UnavailableError.
  Connection(const std::string& display, const std::string& uri);

  xcb_connection_t* get() const { return connection_.get(); }
  const xcb_screen_t& screen() const { return *screen_; }
  PixelRect area() const { return {0, 0, screen_->width_in_pixels, screen_->height_in_pixels}; }
  bool is_lost() const { return xcb_connection_has_error(get()) != 0; }
  // By an extension's name: its numbers, null where the server lacks it; or throws UnavailableError then.
  Reply<xcb_query_extension_reply_t> find(std::string_view extension) const;
  Reply<xcb_query_extension_reply_t> need(std::string_view extension) const;

 private:
  struct Disconnect {
    void operator()(xcb_connection_t* connection) const noexcept { xcb_disconnect(connection); }
  };
  std::string uri_;
  std::unique_ptr<xcb_connection_t, Disconnect> connection_;
  const xcb_screen_t* screen_ = nullptr;
};

// What the server reports of its screen saver: an event of this type whose second byte is 0 when it goes off. 0: never.
std::uint8_t select_saver_events(const Connection& connection);

struct Output {
  std::string name;
  PixelRect area;  // of the screen
};
std::vector<Output> outputs(const Connection& connection);  // that show something

struct Window {
  xcb_window_t id = XCB_NONE;
  std::string title;
  int width_px = 0, height_px = 0;
};
std::optional<xcb_window_t> window_number(const std::string& text);  // "0x1a", "26"
std::vector<xcb_window_t> root_windows(const Connection& connection);
std::vector<xcb_window_t> top_windows(const Connection& connection);  // the window manager's list, else as above
// Titles and classes of each; the server is asked once for all.
std::vector<std::vector<std::string>> window_texts(const Connection& connection,
                                                   const std::vector<xcb_window_t>& windows);
// Of the window on the root that is `window` or holds it, with its border; none: it is not shown.
std::optional<PixelRect> box_on_root(const Connection& connection, xcb_window_t window);
std::optional<PixelRect> focused_box(
    const Connection& connection);                          // likewise, of the window with the keyboard's focus
std::vector<Window> windows(const Connection& connection);  // that are shown and have a title

}  // namespace saccade::x11
