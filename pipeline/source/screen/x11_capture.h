// The picture of an X screen, or of a part of it, kept up by what the server says has changed.
//
// Note [Captured screen]
// DAMAGE tells which pixels were drawn over, and nothing is polled. What was damaged is first taken off the server's
// list and then read, so what changes meanwhile is damaged again. Pixels come by shared memory (MIT-SHM) where the
// server is on this machine. The screen's pixels lack the pointer: XFIXES has its image, XINPUT says that it moved. It
// is drawn here, and what it covered is read again.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/frame_view.h"
#include "pipeline/log.h"
#include "pipeline/source/screen/screen_name.h"
#include "pipeline/source/screen/x11.h"

namespace saccade::x11 {

class SharedMemory;

// On one thread, except wake().
class Capture {
 public:
  // uri: for messages. Width and height of the picture; 0: as captured. Throws InputError, UnavailableError.
  Capture(const ScreenName& name, const std::string& uri, int width_px, int height_px, const Log& log);
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  // Stays, whatever becomes of the screen: its pixels lie at the upper left, the rest is black.
  int width_px() const { return width_px_; }
  int height_px() const { return height_px_; }
  std::string text() const { return text_; }  // what is captured

  // Until the server tells of a change, wake() is called or the time is over. False: the server is gone.
  bool wait(std::chrono::milliseconds longest);
  void pause(std::chrono::milliseconds longest) const;  // whatever the server tells; wake() ends it
  void wake() const;                                    // any thread: for good
  bool has_changed() const { return damaged_ || moved_ || pointer_moved_; }
  // Brings the picture up to date. Returns where it may differ from before; they lie inside and may overlap.
  std::vector<PixelRect> read();
  const std::uint8_t* picture() const { return picture_.data(); }  // RGBA, rows without padding
  std::ptrdiff_t pitch_bytes() const { return std::ptrdiff_t{width_px_} * 4; }

 private:
  void find_window(const std::string& wanted);
  void find_area(const ScreenName& name);
  void check_visual(xcb_visualid_t visual) const;
  void start_memory();
  void start_pointer();
  void take(const xcb_generic_event_t& event);
  void follow_area(std::vector<PixelRect>& changed);
  void name_pixmap();
  void take_damage(std::vector<PixelRect>& changed);
  bool ask_pointer();
  bool follow_pointer(std::vector<PixelRect>& changed);
  void read_pixels(const PixelRect& rect);
  void copy_pixels(const std::uint8_t* bgrx, const PixelRect& rect);
  void draw_pointer();
  void blacken();
  PixelRect clipped(const PixelRect& rect) const;

  const std::string uri_;
  const Log log_;
  Connection connection_;
  std::string text_;
  bool whole_screen_ = false;
  xcb_window_t window_ = XCB_NONE;    // captured; none: the root
  xcb_drawable_t source_ = XCB_NONE;  // pixels are read from here
  PixelRect area_;                    // of the source
  int width_px_ = 0, height_px_ = 0;
  std::vector<std::uint8_t> picture_;
  std::unique_ptr<SharedMemory> memory_;
  xcb_damage_damage_t damage_ = XCB_NONE;
  std::uint32_t region_ = XCB_NONE;
  std::uint8_t damage_event_ = 0, randr_event_ = 0, fixes_event_ = 0;
  bool damaged_ = true, moved_ = false, pointer_moved_ = true;
  bool gone_ = false;  // the window was closed or hidden
  bool draws_pointer_ = false;
  PixelRect pointer_area_;              // of the picture, as drawn
  std::vector<std::uint32_t> pointer_;  // ARGB, alpha already multiplied
  std::uint32_t pointer_serial_ = 0;    // of its image
  PixelRect pointer_at_;                // of the picture, before clipping
  int wake_fd_ = -1;
};

}  // namespace saccade::x11
