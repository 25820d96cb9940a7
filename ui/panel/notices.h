// What lies over picture and panels: the list of keys, a question, and lines that say what happened.
#pragma once

#include <imgui.h>

#include <string>

#include "ui/panel/overlay_text.h"
#include "ui/picture/view_state.h"

namespace saccade::ui {

inline constexpr float kMarginPoints = 8;  // of panels and notices, to the window's edge
inline constexpr auto kNoticeFlags = ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove |
                                     ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoFocusOnAppearing |
                                     ImGuiWindowFlags_NoNav;

class Notices {
 public:
  // False: something has appeared, and has its size in the next draw().
  bool draw(ViewSettings& settings, const ViewFacts& facts, ViewRequests& requests, const Note& note);

 private:
  void draw_lines(const ViewFacts& facts);

  std::string message_;
  double message_until_s_ = 0;
};

}  // namespace saccade::ui
