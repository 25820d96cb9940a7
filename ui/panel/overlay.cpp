#include "ui/panel/overlay.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <utility>

#include "ui/panel/legend.h"
#include "ui/panel/notices.h"
#include "ui/panel/opaque_area.h"
#include "ui/panel/overlay_facts.h"
#include "ui/panel/overlay_text.h"
#include "ui/panel/seek_bar.h"
#include "ui/panel/settings_panel.h"

namespace saccade::ui {
namespace {

constexpr float kFactsPoints = 344, kSettingsPoints = 318;  // widths
constexpr float kLeastShare = 0.4f;                         // of the window's width for the picture beside panels
constexpr float kLeastSlit = 0.25f;                         // between two panels over the picture
constexpr auto kPanelFlags = kNoticeFlags | ImGuiWindowFlags_NoBackground;

// Where panels lie: above `bottom`, beside the picture or over it.
struct PanelRoom {
  float bottom = 0;
  bool docked = true;
};

// A part of a panel. Folded, only its title is left.
struct Section {
  const char* title;
  const char* fold;  // the control's name
  bool& open;
  std::function<void()> draw;
};

// A window at the top of the display, at its left or right, as tall as what was drawn into it last. The titles of its
// sections stand side by side in its first line.
class Panel {
 public:
  explicit Panel(const char* id) : id_(id) {}
  // Adds what it hides to `covered`. False: its content is of another height than it was drawn with.
  bool draw(float width, bool at_right, const PanelRoom& room, std::initializer_list<Section> sections,
            PixelRects& covered, const Note& note) {
    const bool open = std::any_of(sections.begin(), sections.end(), [](const Section& s) { return s.open; });
    if (!open) width = std::ceil(titles_width(sections));
    const ImVec2 display = ImGui::GetIO().DisplaySize;
    const float margin = std::round(points(kMarginPoints)), wanted = width;
    const float most = std::floor(room.bottom - 2 * margin);
    width = std::floor(std::min(width, display.x - 2 * margin));
    if (most < points(40) || width < points(40)) return true;
    ImGui::SetNextWindowPos({at_right ? display.x - margin - width : margin, margin});
    ImGui::SetNextWindowSize({width, std::floor(std::clamp(height_, points(40), most))});
    constexpr int kStill = ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse;
    ImGui::Begin(id_, nullptr, kPanelFlags | kStill);
    area_.fill_window(room.docked && open);
    if (area_.opaque()) covered.add(area_.rect());
    // A bar that came and went would change the width, and with it the height. It belongs to a window within: Begin()
    // draws it, so the outer window's would lie below the fill.
    const ImGuiStyle& style = ImGui::GetStyle();
    int bars = height_ > most ? int{ImGuiWindowFlags_AlwaysVerticalScrollbar} : kStill;
    const bool narrow = width < std::floor(wanted);
    if (narrow) {  // nothing is cut: it scrolls
      bars = ImGuiWindowFlags_AlwaysVerticalScrollbar | ImGuiWindowFlags_AlwaysHorizontalScrollbar;
      ImGui::SetNextWindowContentSize({wanted - 2 * style.WindowPadding.x - style.ScrollbarSize, 0});
    }
    ImGui::BeginChild("content", {0, 0}, false, kPanelFlags | bars);
    for (const Section& section : sections) {
      if (&section != sections.begin()) ImGui::SameLine(0, points(16));
      draw_title(section, note);
    }
    for (const Section& section : sections) {
      if (section.open) section.draw();
    }
    const float before = std::exchange(height_, 0);
    height_ = ImGui::GetCursorPosY() + 2 * style.WindowPadding.y + (narrow ? style.ScrollbarSize : 0);
    ImGui::EndChild();
    ImGui::End();
    return height_ == before;
  }

 private:
  static float titles_width(std::initializer_list<Section> sections) {
    float width = 0;
    for (const Section& section : sections) width += ImGui::CalcTextSize(section.title).x + points(40);
    return width;
  }

  static void draw_title(const Section& section, const Note& note) {
    bool& open = section.open;
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {0, 0});
    ImGui::PushStyleColor(ImGuiCol_Button, 0);
    if (ImGui::ArrowButton(section.fold, open ? ImGuiDir_Down : ImGuiDir_Right)) open = !open;
    tooltip(open ? "Fold it." : "Open it.");
    note(section.fold);
    ImGui::PopStyleColor();
    ImGui::PopStyleVar();
    ImGui::SameLine();
    text_colored(kDim, "{}", section.title);
    if (ImGui::IsItemClicked()) open = !open;
  }

  const char* id_;
  OpaqueArea area_;
  float height_ = 640;
};

}  // namespace

struct Overlay::State {
  explicit State(const ViewSettings& initial) : settings_panel(initial) {}

  void lay_out(const ViewSettings& settings, const ViewFacts& facts);
  static float width_of(float panel_points);
  static bool both_fit();  // a panel at each side; else the left one has all
  void draw_panels(ViewSettings& settings, const ViewFacts& facts, ViewRequests& requests);

  FactsPanel facts_panel;
  SettingsPanel settings_panel;
  SeekBar seek_bar;
  Legend legend;
  Notices notices;
  Panel left{"left panel"}, right{"right panel"};
  struct Control {
    ControlRect rect;
    int frame = 0;  // in which it was drawn last
  };
  std::map<std::string, Control, std::less<>> controls;
  PixelRects covered;
  bool settled = true;
  PixelBox picture_area, legend_area;
  PanelRoom room;
  Note note = [this](std::string_view name) {
    const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
    const auto found = controls.find(name);
    Control& control = found != controls.end() ? found->second : controls[std::string(name)];
    control = {{low.x, low.y, high.x, high.y}, ImGui::GetFrameCount()};
  };
};

// Open panels lie beside the picture if that leaves it enough of the window's width, else over it. Two that would cover
// most of it are one. The legend lies below the picture, between the panels beside it.
void Overlay::State::lay_out(const ViewSettings& settings, const ViewFacts& facts) {
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  PixelBox area{0, 0, static_cast<int>(display.x), static_cast<int>(display.y)};
  legend_area = {};
  if (settings.overlay) {
    const float bar = facts.served ? 0 : std::round(points(kSeekBarPoints));
    area.bottom = std::max(area.bottom - static_cast<int>(bar), 1);
    room = {static_cast<float>(area.bottom), true};
    const bool left_open = settings.facts_open || (settings.settings_open && !both_fit());
    const float at_left = left_open ? width_of(kFactsPoints) : 0;
    const float at_right = settings.settings_open && both_fit() ? width_of(kSettingsPoints) : 0;
    room.docked = display.x - at_left - at_right >= kLeastShare * display.x;
    if (room.docked) {
      area.left = static_cast<int>(at_left);
      area.right -= static_cast<int>(at_right);
    }
    const int below = static_cast<int>(std::round(points(kLegendPoints)));
    if (needs_legend(settings, facts) && area.bottom > 4 * below) {
      legend_area = {area.left, area.bottom - below, area.right, area.bottom};
      area.bottom -= below;
      if (!room.docked) room.bottom -= static_cast<float>(below);
    }
  }
  picture_area = area;
}

// With its margins.
float Overlay::State::width_of(float panel_points) {
  return points(panel_points) + 2 * std::round(points(kMarginPoints));
}

bool Overlay::State::both_fit() {
  const float width = ImGui::GetIO().DisplaySize.x;
  return width - width_of(kFactsPoints) - width_of(kSettingsPoints) >= kLeastSlit * width;
}

void Overlay::State::draw_panels(ViewSettings& settings, const ViewFacts& facts, ViewRequests& requests) {
  const Section facts_section{"facts", "fold-facts", settings.facts_open,
                              [&] { facts_panel.draw(settings, facts, note); }};
  const Section settings_section{"settings", "fold-settings", settings.settings_open,
                                 [&] { settings_panel.draw(settings, facts, requests, note); }};
  if (both_fit()) {
    settled &= left.draw(points(kFactsPoints), false, room, {facts_section}, covered, note);
    settled &= right.draw(points(kSettingsPoints), true, room, {settings_section}, covered, note);
  } else {
    settled &= left.draw(points(kFactsPoints), false, room, {facts_section, settings_section}, covered, note);
  }
}

Overlay::Overlay(const ViewSettings& initial) : state_(std::make_unique<State>(initial)) {}
Overlay::~Overlay() = default;

void Overlay::draw(ViewSettings& settings, const ViewFacts& facts, ViewRequests& requests) {
  const ImGuiIO& io = ImGui::GetIO();
  const bool near_bottom = io.MousePos.y >= io.DisplaySize.y - points(2 * kSeekBarPoints) &&
                           io.MousePos.y < io.DisplaySize.y && io.MousePos.x >= 0 && io.MousePos.x < io.DisplaySize.x;
  state_->covered.clear();
  state_->settled = true;
  state_->lay_out(settings, facts);
  if (settings.overlay) state_->draw_panels(settings, facts, requests);
  if (!facts.served && (settings.overlay || near_bottom)) {
    state_->seek_bar.draw(settings, facts, requests, state_->note);
    if (settings.overlay) state_->covered.add(state_->seek_bar.area());
  } else {
    state_->seek_bar.hide(requests);
  }
  if (!state_->legend_area.empty()) {
    state_->legend.draw(settings, facts, state_->legend_area);
    state_->covered.add(state_->legend.area());
  }
  state_->settled &= state_->notices.draw(settings, facts, requests, state_->note);
}

bool Overlay::settled() const { return state_->settled; }

PixelBox Overlay::picture_area() const { return state_->picture_area; }

std::span<const PixelBox> Overlay::covered() const { return state_->covered.span(); }

std::optional<ControlRect> Overlay::control(std::string_view name) const {
  const auto found = state_->controls.find(name);
  const bool shown = found != state_->controls.end() && found->second.frame == ImGui::GetFrameCount();
  return shown ? std::optional<ControlRect>(found->second.rect) : std::nullopt;
}

std::vector<std::pair<std::string_view, ControlRect>> Overlay::controls() const {
  std::vector<std::pair<std::string_view, ControlRect>> shown;
  for (const auto& [name, control] : state_->controls) {
    if (control.frame == ImGui::GetFrameCount()) shown.emplace_back(name, control.rect);
  }
  return shown;
}

}  // namespace saccade::ui
