// Makes settings and requests of keys and the mouse. Places are pixels of the framebuffer, origin top-left.
#pragma once

#include "ui/tuning/key_bindings.h"
#include "ui/viewer/viewer.h"

namespace saccade::ui {

// One thread, the viewer's. The window's and the page's events come here; the panel's own go to ImGui.
class ViewInput {
 public:
  explicit ViewInput(Viewer& viewer) : viewer_(viewer) {}  // which outlives it

  struct Place {
    float x, y, width, height;  // of the framebuffer
  };
  void key(Key key, bool shift, bool repeated);
  void press(const Place& at, double now_s);  // the left button; by any steady clock
  void release(const Place& at);
  void move(const Place& to);
  void wheel(const Place& at, double dy);

 private:
  void act(Action action, Key key);
  void escape();
  void seek_to(bool end);
  PixelBox area() const;
  PictureMapping mapping() const;

  Viewer& viewer_;
  enum class Drag : unsigned char { kNone, kPending, kPan, kSeam } drag_ = Drag::kNone;
  Place pressed_{}, last_{};
  double pressed_at_s_ = -1;
  bool again_ = false;  // the second press of a double click
};

}  // namespace saccade::ui
