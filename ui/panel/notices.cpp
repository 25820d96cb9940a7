#include "ui/panel/notices.h"

#include <algorithm>

#include "ui/tuning/key_bindings.h"

namespace saccade::ui {
namespace {

constexpr double kMessage_s = 4;

bool has_effect(const KeyBinding& binding, const ViewFacts& facts) {
  return binding.action != Action::kVsync || !facts.served;
}

// Returns whether it has appeared just now, as wide as ImGui guesses.
bool draw_help(bool& open, const ViewFacts& facts) {
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  ImGui::SetNextWindowPos({display.x / 2, display.y / 2}, 0, {0.5f, 0.5f});
  ImGui::SetNextWindowSizeConstraints({0, 0}, {display.x, display.y});  // it scrolls in a smaller one
  ImGui::SetNextWindowBgAlpha(0.94f);
  ImGui::Begin("keys", &open,
               ImGuiWindowFlags_NoCollapse | ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_AlwaysAutoResize |
                   ImGuiWindowFlags_HorizontalScrollbar | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoNav);
  const bool appears = ImGui::IsWindowAppearing();
  if (ImGui::BeginTable("keys", 2, ImGuiTableFlags_SizingFixedFit)) {
    const auto row = [](const char* keys, const char* what) {
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      text_colored(kAccent, "{:<12}", keys);
      ImGui::TableNextColumn();
      ImGui::TextUnformatted(what);
    };
    for (const KeyBinding& binding : key_bindings()) {
      if (*binding.keys != '\0' && has_effect(binding, facts)) row(binding.keys, binding.what);
    }
    for (const MouseBinding& binding : mouse_bindings()) row(binding.gesture, binding.what);
    ImGui::EndTable();
  }
  ImGui::End();
  return appears;
}

// Returns where it ends.
float draw_notice(const char* id, const std::string& what, const ImVec4& color, float y) {
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  const float width = std::min(ImGui::CalcTextSize(what.c_str()).x + points(20), display.x - points(16));
  const ImVec2 size = ImGui::CalcTextSize(what.c_str(), nullptr, false, width - points(16));
  ImGui::SetNextWindowPos({(display.x - width) / 2, y});
  ImGui::SetNextWindowSize({width, size.y + points(16)});
  ImGui::SetNextWindowBgAlpha(0.94f);
  ImGui::Begin(id, nullptr, kNoticeFlags | ImGuiWindowFlags_NoInputs);
  ImGui::PushTextWrapPos(0);
  text_colored(color, "{}", what);
  ImGui::PopTextWrapPos();
  ImGui::End();
  return y + size.y + points(16);
}

// In the window's middle. Returns as draw_help().
bool draw_quit_question(ViewRequests& requests, const Note& note) {
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  ImGui::SetNextWindowPos({display.x / 2, display.y / 2}, 0, {0.5f, 0.5f});
  ImGui::SetNextWindowSizeConstraints({0, 0}, {display.x, display.y});
  ImGui::SetNextWindowBgAlpha(0.94f);
  ImGui::Begin("quit", nullptr, kNoticeFlags | ImGuiWindowFlags_AlwaysAutoResize);
  const bool appears = ImGui::IsWindowAppearing();
  text_colored(kAccent, "The settings have changed and are not saved.");
  if (ImGui::Button("quit without saving (q)")) requests.quit = true;
  note("quit");
  ImGui::SameLine();
  if (ImGui::Button("stay (Esc)")) requests.stay = true;
  note("stay");
  ImGui::End();
  return appears;
}

}  // namespace

// What happened, for a few seconds; what broke, for as long as it is so.
void Notices::draw_lines(const ViewFacts& facts) {
  const double now_s = ImGui::GetTime();
  if (facts.message != message_) {
    message_ = facts.message;
    message_until_s_ = now_s + kMessage_s;
  }
  float y = points(kMarginPoints);
  const float gap = points(4);
  if (!facts.error.empty()) y = draw_notice("error", facts.error, kAlarm, y) + gap;
  if (!facts.state.empty()) y = draw_notice("state", facts.state, kAccent, y) + gap;
  if (!message_.empty() && now_s < message_until_s_) y = draw_notice("message", message_, kBright, y) + gap;
  if (!facts.note.empty()) draw_notice("note", facts.note, kBright, y);
}

bool Notices::draw(ViewSettings& settings, const ViewFacts& facts, ViewRequests& requests, const Note& note) {
  const bool help_appears = settings.help && draw_help(settings.help, facts);
  const bool question_appears = facts.asks_to_quit && draw_quit_question(requests, note);
  draw_lines(facts);
  return !help_appears && !question_appears;
}

}  // namespace saccade::ui
