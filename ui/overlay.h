// The panel over the picture: what happens, and everything that can be tuned.
#pragma once

#include <memory>

#include "ui/view_state.h"

namespace saccade::ui {

// Draws between ImguiLayer::begin() and end(), in the main thread. Changes `settings` as the person does and raises
// `requests`; touches nothing else. Everything is drawn by draw(): panel, seek bar and help, as `settings` says.
class Overlay {
 public:
  // initial: what "reset" goes back to.
  explicit Overlay(const ViewSettings& initial);
  ~Overlay();
  Overlay(const Overlay&) = delete;
  Overlay& operator=(const Overlay&) = delete;
  void draw(ViewSettings& settings, const ViewFacts& facts, ViewRequests& requests);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace saccade::ui
