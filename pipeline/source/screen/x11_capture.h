// The picture of an X screen, or of a part of it, kept up by what the server says has changed.
//
// Note [Captured screen]
// DAMAGE tells which pixels were drawn over, and nothing is polled. What was damaged is first taken off the server's
// list and then read, so what changes meanwhile is damaged again. Pixels come by shared memory (MIT-SHM) where the
// server is on this machine. The screen's pixels lack the pointer: XFIXES has its image, XINPUT says that it moved. It
// is drawn here, and what it covered is read again. Hidden windows are looked up before each reading, and the server is
// grabbed until the pixels are read, so they are black wherever they move. The pointer's place and the window with the
// keyboard's focus are asked for at each reading.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/frame_view.h"
#include "pipeline/log.h"
#include "pipeline/source/screen/screen_capture.h"
#include "pipeline/source/screen/screen_name.h"
#include "pipeline/source/screen/x11.h"
#include "pipeline/source/screen/x11_hidden.h"

namespace saccade::x11 {

class SharedMemory;

class Capture final : public ScreenCapture {
 public:
  // uri: for messages. Width and height of the picture; 0: as captured. Throws InputError, UnavailableError.
  Capture(const ScreenName& name, const std::string& uri, int width_px, int height_px, const Log& log);
  ~Capture() override;

  const char* decoder() const override { return "x11"; }
  bool wait(std::chrono::milliseconds longest) override;
  StreamEnd end() const override { return {.broke = true, .reason = "the X server is gone"}; }
  bool has_changed() const override { return damaged_ || moved_ || pointer_moved_; }
  std::vector<PixelRect> read() override;

 private:
  void find_window(const std::string& wanted);
  void find_area(const ScreenName& name);
  void check_visual(xcb_visualid_t visual) const;
  void start_memory();
  void start_input();
  void take(const xcb_generic_event_t& event);
  void follow_area(std::vector<PixelRect>& changed);
  void name_pixmap();
  void find_screen_area();
  void follow_hidden(std::vector<PixelRect>& changed);
  void take_damage(std::vector<PixelRect>& changed);
  PixelRect seen() const;
  std::optional<PixelRect> shown_part() const;
  void follow_focus();
  bool ask_pointer();
  bool follow_pointer(std::vector<PixelRect>& changed);
  void read_pixels(const PixelRect& rect);
  PixelRect clipped(const PixelRect& rect) const;

  Connection connection_;
  bool whole_screen_ = false;
  std::string output_;                // captured; empty: none
  xcb_window_t window_ = XCB_NONE;    // captured; none: the root
  xcb_drawable_t source_ = XCB_NONE;  // pixels are read from here
  PixelRect area_;                    // of the source
  std::vector<PixelRect> hidden_regions_;
  HiddenWindows hidden_windows_;
  std::unique_ptr<SharedMemory> memory_;
  xcb_damage_damage_t damage_ = XCB_NONE;
  std::uint32_t region_ = XCB_NONE;
  std::uint8_t damage_event_ = 0, randr_event_ = 0, fixes_event_ = 0, saver_event_ = 0;
  bool damaged_ = true, moved_ = false, pointer_moved_ = true;
  bool gone_ = false;   // the window was closed or hidden, or the output is off
  bool blank_ = false;  // the screen saver is on
  bool draws_pointer_ = false, gives_cues_ = false;
  std::int64_t key_ns_ = 0;             // when the last key was pressed; 0: none was
  PixelRect pointer_area_;              // of the picture, as drawn
  std::vector<std::uint32_t> pointer_;  // ARGB, alpha already multiplied
  std::uint32_t pointer_serial_ = 0;    // of its image
  PixelRect pointer_at_;                // of the picture, before clipping
};

}  // namespace saccade::x11
