// The panel over the picture: what happens, and everything that can be tuned.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "ui/picture/pixel_rects.h"
#include "ui/picture/view_state.h"

namespace saccade::ui {

// Where a control was drawn last, in pixels of the framebuffer.
struct ControlRect {
  float left = 0, top = 0, right = 0, bottom = 0;
};

// Draws between ImguiLayer::begin() and end(), in the main thread. Changes `settings` as the person does and raises
// `requests`; touches nothing else. Everything is drawn by draw(): panel, seek bar and help, as `settings` says.
class Overlay {
 public:
  // initial: what "reset" goes back to. The GL context is current: thumbnails are drawn.
  explicit Overlay(const ViewSettings& initial);
  ~Overlay();
  Overlay(const Overlay&) = delete;
  Overlay& operator=(const Overlay&) = delete;
  void draw(ViewSettings& settings, const ViewFacts& facts, ViewRequests& requests);

  // False: what was drawn last is not as large as what it holds; the next draw() mends that.
  bool settled() const;

  // Where draw() leaves room for the picture: the whole window, or what lies beside the panels. Empty before draw().
  PixelBox picture_area() const;

  // What draw() is about to hide of what lies below, in pixels of the framebuffer.
  std::span<const PixelBox> covered() const;

  // By the name of what it sets ("threshold", "e0", "save", "seek"); empty: it isn't shown.
  std::optional<ControlRect> control(std::string_view name) const;
  std::vector<std::pair<std::string_view, ControlRect>> controls() const;  // all that are shown

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace saccade::ui
