#include "ui/panel/seek_bar.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "ui/panel/overlay_text.h"

namespace saccade::ui {
namespace {

// h:mm:ss.mmm, always as wide.
void time_text(const ImVec4& color, std::int64_t ns) {
  const std::int64_t ms = std::max<std::int64_t>(ns, 0) / 1'000'000;
  text_colored(color, "{}:{:02}:{:02}.{:03}", ms / 3'600'000, ms / 60'000 % 60, ms / 1000 % 60, ms % 1000);
}

enum class Icon : std::uint8_t { kPlay, kPause, kBack, kForward };

bool icon_button(const char* id, Icon icon, const char* tip) {
  const float size = ImGui::GetFrameHeight();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const bool pressed = ImGui::Button(id, {size * 1.4f, size});
  tooltip(tip);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImU32 color = ImGui::GetColorU32(kBright);
  const float x = at.x + size * 0.7f, y = at.y + size * 0.5f, r = size * 0.26f;
  const float bar = r * 0.5f;
  if (icon == Icon::kPause) {
    list.AddRectFilled({x - r, y - r}, {x - r + bar * 1.4f, y + r}, color);
    list.AddRectFilled({x + r - bar * 1.4f, y - r}, {x + r, y + r}, color);
    return pressed;
  }
  const float way = icon == Icon::kBack ? -1.0f : 1.0f;
  const ImVec2 tip_at{x + way * r, y}, upper{x - way * r, y - r}, lower{x - way * r, y + r};
  if (way > 0) {
    list.AddTriangleFilled(upper, tip_at, lower, color);
  } else {
    list.AddTriangleFilled(tip_at, upper, lower, color);
  }
  if (icon != Icon::kPlay) list.AddRectFilled({tip_at.x - bar * 0.5f, y - r}, {tip_at.x + bar * 0.5f, y + r}, color);
  return pressed;
}

}  // namespace

void SeekBar::buttons(ViewSettings& settings, const ViewFacts& facts, ViewRequests& requests, const Note& note) {
  if (icon_button("##back", Icon::kBack, "One frame back (,)")) --requests.step;
  note("step-back");
  ImGui::SameLine();
  if (icon_button("##pause", settings.paused || facts.time.ended ? Icon::kPlay : Icon::kPause,
                  "Pause, go on; at the end: begin again (space)")) {
    settings.paused = !settings.paused;
  }
  note("pause");
  ImGui::SameLine();
  if (icon_button("##forward", Icon::kForward, "One frame on (.)")) ++requests.step;
  note("step-forward");
  ImGui::SameLine();
}

void SeekBar::track(const ViewFacts& facts, ViewRequests& requests, float width, const Note& note) {
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const float height = ImGui::GetFrameHeight();
  ImGui::InvisibleButton("##seek", {width, height});
  note("seek");
  const bool known = facts.time.duration_ns > 0;
  const double at_ns = static_cast<double>(facts.time.pts_ns - facts.time.start_pts_ns);
  float share =
      known ? static_cast<float>(std::clamp(at_ns / static_cast<double>(facts.time.duration_ns), 0.0, 1.0)) : 0;
  const bool usable = known && facts.time.seekable;
  const float under = std::clamp((ImGui::GetIO().MousePos.x - corner.x) / width, 0.0f, 1.0f);
  const auto under_ns = std::llround(static_cast<double>(under) * static_cast<double>(facts.time.duration_ns));
  if (usable && (ImGui::IsItemHovered() || ImGui::IsItemActive())) {
    ImGui::BeginTooltip();
    time_text(kBright, under_ns);
    ImGui::EndTooltip();
    if (ImGui::IsItemActive()) share = under;
  }
  // Held, it is sought wherever the mouse goes.
  const bool held = usable && ImGui::IsItemActive();
  const bool let_go = usable && dragging_ && !held;
  if ((held && (!dragging_ || under_ns != sought_ns_)) || let_go) {
    requests.seek_pts_ns = facts.time.start_pts_ns + under_ns;
    sought_ns_ = under_ns;
  }
  if (held != dragging_) requests.scrubbing = held;
  dragging_ = held;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float y = corner.y + height / 2, half = points(3);
  list.AddRectFilled({corner.x, y - half}, {corner.x + width, y + half}, IM_COL32(255, 255, 255, 46), half);
  if (!known) return;
  const float x = corner.x + width * share;
  list.AddRectFilled({corner.x, y - half}, {x, y + half}, ImGui::GetColorU32(usable ? kAccent : kDim), half);
  if (usable) list.AddCircleFilled({x, y}, points(6), ImGui::GetColorU32(kBright), 20);
}

void SeekBar::hide(ViewRequests& requests) {
  if (std::exchange(dragging_, false)) requests.scrubbing = false;
}

void SeekBar::draw(ViewSettings& settings, const ViewFacts& facts, ViewRequests& requests, const Note& note) {
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  const float height = std::round(points(kSeekBarPoints));
  ImGui::SetNextWindowPos({0, display.y - height});
  ImGui::SetNextWindowSize({display.x, height});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0);
  ImGui::Begin("seek bar", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoFocusOnAppearing | ImGuiWindowFlags_NoNav |
                   ImGuiWindowFlags_NoScrollWithMouse);
  area_.fill_window(settings.overlay);  // else it lies over the picture
  buttons(settings, facts, requests, note);
  ImGui::AlignTextToFramePadding();
  time_text(kBright, facts.time.pts_ns - facts.time.start_pts_ns);
  ImGui::SameLine();
  const float letter = ImGui::CalcTextSize("0").x;
  const float after = letter * 24 + ImGui::GetStyle().ItemSpacing.x;
  const float free = ImGui::GetContentRegionAvail().x;
  const bool wide = free - after > letter * 8;
  if (free > letter * 4) track(facts, requests, wide ? free - after : free, note);
  if (wide) {
    ImGui::SameLine();
    if (facts.time.duration_ns > 0) {
      time_text(kDim, facts.time.duration_ns);
    } else {
      text_colored(kDim, "{:>11}", facts.stream != nullptr && facts.stream->live ? "live" : "-:--:--.---");
    }
    ImGui::SameLine();
    const char* state = facts.time.ended ? "end" : settings.paused ? "paused" : settings.loop ? "loop" : "";
    text_colored(facts.time.ended ? kAccent : kDim, "{:4.2f}x {:<6}", settings.speed, state);
  }
  ImGui::End();
  ImGui::PopStyleVar();
}

}  // namespace saccade::ui
