// The picture of a screen, or of a part of it, kept up by what its server says has changed: what X11 and Wayland share.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/log.h"
#include "pipeline/screen_cues.h"
#include "pipeline/source/frame/frame_source.h"
#include "pipeline/source/screen/screen_picture.h"

namespace saccade {

// On one thread, except wake().
class ScreenCapture {
 public:
  ScreenCapture(std::string uri, Log log);
  virtual ~ScreenCapture();
  ScreenCapture(const ScreenCapture&) = delete;
  ScreenCapture& operator=(const ScreenCapture&) = delete;

  virtual const char* decoder() const = 0;  // StreamInfo's
  // Its size stays, whatever becomes of the screen: the screen's pixels lie at the upper left, the rest is black.
  const ScreenPicture& picture() const { return picture_; }
  const std::string& text() const { return text_; }  // what is captured

  // Until the server tells of a change, wake() is called or the time is over. False: it is over, see end().
  virtual bool wait(std::chrono::milliseconds longest) = 0;
  virtual StreamEnd end() const = 0;
  void pause(std::chrono::milliseconds longest) const;  // whatever the server tells; wake() ends it
  void wake() const;                                    // any thread: for good
  virtual bool has_changed() const = 0;
  // Brings the picture up to date. Returns where it may differ from before; they lie inside and may overlap.
  virtual std::vector<PixelRect> read() = 0;
  const ScreenCues& cues() const { return cues_; }  // of what read() brought
  // By the server, on the steady clock: when it made what read() brought. 0: it does not say.
  virtual std::int64_t made_ns() const { return 0; }

 protected:
  // The log says that what is captured has this size now, and what becomes of the picture.
  void report_size(int width_px, int height_px) const;

  // The pointer points at this pixel of the picture, which may lie outside of `seen`; see ScreenCues.
  void point_at(int x_px, int y_px, const PixelRect& seen);
  void point_nowhere();

  const std::string uri_;
  const Log log_;
  std::string text_;
  ScreenPicture picture_;
  ScreenCues cues_;
  int wake_fd_ = -1;  // readable: wake() was called
};

}  // namespace saccade
