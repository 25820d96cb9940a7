#include "ui/overlay.h"

#include <fmt/format.h>
#include <imgui.h>

namespace saccade::ui {

struct Overlay::State {
  ViewSettings initial;
};

Overlay::Overlay(const ViewSettings& initial) : state_(std::make_unique<State>(State{initial})) {}
Overlay::~Overlay() = default;

void Overlay::draw(ViewSettings& settings, const ViewFacts& facts, ViewRequests&) {
  if (!settings.overlay) return;
  ImGui::SetNextWindowPos({8, 8});
  ImGui::Begin("saccade", nullptr, ImGuiWindowFlags_AlwaysAutoResize);
  ImGui::TextUnformatted(fmt::format("view {}", name(settings.view)).c_str());
  ImGui::TextUnformatted(fmt::format("frame {:6}", facts.frame).c_str());
  ImGui::End();
}

}  // namespace saccade::ui
