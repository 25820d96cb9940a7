#include "pipeline/source/screen/screen_capture.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <limits>
#include <utility>

namespace saccade {

ScreenCapture::ScreenCapture(std::string uri, Log log)
    : uri_(std::move(uri)), log_(std::move(log)), wake_fd_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}

ScreenCapture::~ScreenCapture() {
  if (wake_fd_ >= 0) close(wake_fd_);
}

void ScreenCapture::pause(std::chrono::milliseconds longest) const {
  pollfd file{wake_fd_, POLLIN, 0};
  poll(&file, 1, static_cast<int>(longest.count()));
}

void ScreenCapture::wake() const {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(wake_fd_, &one, sizeof one);
}

void ScreenCapture::point_at(int x_px, int y_px, const PixelRect& seen) {
  if (is_empty(common({x_px, y_px, 1, 1}, seen))) return point_nowhere();
  cues_.pointer_u = (static_cast<float>(x_px) + 0.5f) / static_cast<float>(picture_.width_px());
  cues_.pointer_v = (static_cast<float>(y_px) + 0.5f) / static_cast<float>(picture_.height_px());
}

void ScreenCapture::point_nowhere() { cues_.pointer_u = cues_.pointer_v = std::numeric_limits<float>::quiet_NaN(); }

void ScreenCapture::report_size(int width_px, int height_px) const {
  const bool larger = width_px > picture_.width_px() || height_px > picture_.height_px();
  log_.warn("{}: {} has {}x{} pixels now; the picture stays {}x{}: {}", uri_, text_, width_px, height_px,
            picture_.width_px(), picture_.height_px(), larger ? "what lies beyond is left out" : "the rest is black");
}

}  // namespace saccade
