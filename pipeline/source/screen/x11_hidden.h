// Windows of an X screen that are kept out of its picture, wherever they go.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kernels/frame_view.h"
#include "pipeline/source/screen/x11.h"

namespace saccade::x11 {

// While it lives the server serves this connection alone: no window moves between two requests.
class GrabbedServer {
 public:
  // wanted: false, nothing is grabbed.
  GrabbedServer(const Connection& connection, bool wanted);
  ~GrabbedServer();
  GrabbedServer(const GrabbedServer&) = delete;
  GrabbedServer& operator=(const GrabbedServer&) = delete;

 private:
  const Connection& connection_;
  const bool grabbed_;
};

// Note [Left by hidden windows]
// Where a window was moved away or closed, its pixels stay until what lies below is drawn: the server paints no window
// whose background is None, and a compositor may fade the window out. So the place stays hidden for half a second.
class HiddenWindows {
 public:
  // Each a number, or a part of the title or of the class (WM_CLASS).
  explicit HiddenWindows(std::vector<std::string> names) : names_(std::move(names)) {}

  bool any() const { return !names_.empty(); }
  // In pixels of the screen: where those that are shown are, or were in the last half second.
  std::vector<PixelRect> boxes(const Connection& connection);

 private:
  struct Place {
    PixelRect area;
    std::int64_t left_ns = 0;  // when it was first found empty; 0: a window is there
  };
  std::vector<std::string> names_;
  std::vector<Place> places_;
};

}  // namespace saccade::x11
