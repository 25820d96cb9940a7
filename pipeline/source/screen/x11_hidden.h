// Windows of an X screen that are kept out of its picture, wherever they go.
#pragma once

#include <string>
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

// The boxes, in pixels of the screen, of the windows that are shown and that one of `names` names: a number, or a part
// of the title or of the class (WM_CLASS). With its frame, if a window manager has put one around it.
std::vector<PixelRect> boxes_of_windows(const Connection& connection, const std::vector<std::string>& names);

}  // namespace saccade::x11
