#include "ui/panel/legend.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "ui/panel/overlay_text.h"
#include "ui/picture/frame_renderer.h"
#include "ui/picture/heat_color.h"
#include "ui/receiver/tile_shades.h"

namespace saccade::ui {
namespace {

constexpr float kBarPoints = 10, kLeastBarPoints = 90, kMostBarPoints = 260;
// As view_frag.glsl lays them over the frame, here over a dark grey.
constexpr ImU32 kJustChanged = IM_COL32(230, 190, 70, 255), kFading = IM_COL32(112, 50, 40, 255),
                kFaded = IM_COL32(58, 58, 60, 255);

// One scale: what it is of, in full and in short, its colours, and words below them from 0 to 1.
struct Scale {
  const char* title;
  const char* brief;
  bool heat;
  std::vector<std::pair<float, std::string>> marks;
};

bool shows_lod(const ViewSettings& settings, const ViewFacts& facts) {
  const bool outlines = settings.outlines && (facts.look.plan != nullptr);
  return facts.pyramid != nullptr && facts.look.fovea != nullptr && (settings.view == View::kLod || outlines);
}

bool shows_tiles(const ViewSettings& settings, const ViewFacts& facts) {
  return facts.pyramid != nullptr && (settings.view == View::kError || settings.view == View::kWeights);
}

bool shows_damage(const ViewSettings& settings, const ViewFacts& facts) {
  return facts.pyramid != nullptr && settings.view == View::kDamage;
}

Scale lod_scale(const ViewSettings& settings, const ViewFacts& facts) {
  const PyramidLayout& layout = facts.pyramid->layout();
  const float range =
      lod_range({layout.width_px, layout.height_px, facts.sar}, *facts.look.fovea, facts.look.coarsest_lod);
  const bool outlines = settings.view != View::kLod;
  Scale scale{outlines ? "outlines: pixels that a patch's sample spans" : "pixels that a sample spans",
              outlines ? "outlines, px" : "px",
              true,
              {}};
  for (int level = 0; level <= static_cast<int>(range); ++level) {
    scale.marks.emplace_back(static_cast<float>(level) / range, fmt::format("{}", 1 << level));
  }
  return scale;
}

Scale damage_scale() {
  return {"tiles of 16x16 pixels, since they changed", "changed", false, {{0, "now"}, {0.5f, "0.5 s"}, {1, "1 s"}}};
}

// A mark an octave.
Scale octaves(const char* title, const char* brief, float least, float most) {
  Scale scale{title, brief, true, {}};
  const float all = std::log2(most / least);
  for (float value = least; value <= most; value *= 2) {
    const std::string word = value < 1 ? fmt::format("1/{:.0f}", 1 / value) : fmt::format("{:.0f}", value);
    scale.marks.emplace_back(std::log2(value / least) / all, word);
  }
  return scale;
}

Scale tile_scale(const ViewSettings& settings) {
  if (settings.view == View::kWeights) {
    return octaves("what an error weighs; dark: ignored", "weight", kLeastWeight, 1);
  }
  return octaves("weighted error a pixel, in codes", "codes", kLeastCodes, kMostCodes);
}

void draw_bar(ImDrawList& list, const Scale& scale, ImVec2 low, ImVec2 high) {
  const int parts = scale.heat ? static_cast<int>(kHeatStops.size()) - 1 : 2;
  const auto color = [&](int part) {
    if (scale.heat) return heat_color(static_cast<float>(part) / static_cast<float>(parts), 1);
    return part == 0 ? kJustChanged : part == 1 ? kFading : kFaded;
  };
  for (int i = 0; i < parts; ++i) {
    const float left = low.x + (high.x - low.x) * static_cast<float>(i) / static_cast<float>(parts);
    const float right = low.x + (high.x - low.x) * static_cast<float>(i + 1) / static_cast<float>(parts);
    list.AddRectFilledMultiColor({left, low.y}, {right, high.y}, color(i), color(i + 1), color(i + 1), color(i));
  }
}

// Words that would touch the one before are left out.
void draw_marks_below(ImDrawList& list, const Scale& scale, ImVec2 low, ImVec2 high) {
  float taken = low.x - points(20);
  for (const auto& [share, word] : scale.marks) {
    const float x = low.x + (high.x - low.x) * share, width = ImGui::CalcTextSize(word.c_str()).x;
    list.AddLine({x, low.y}, {x, high.y + points(3)}, ImGui::GetColorU32(kBright), points(1));
    if (x - width / 2 < taken + points(4)) continue;
    list.AddText({x - width / 2, high.y + points(2)}, ImGui::GetColorU32(kBright), word.c_str());
    taken = x + width / 2;
  }
}

void draw_scale(const Scale& scale, float left, float width) {
  const ImVec2 corner = ImGui::GetWindowPos();
  const float edge = points(14), gap = points(16);
  const float room = width - 2 * edge;
  const char* title = scale.title;
  if (room - ImGui::CalcTextSize(title).x - gap < points(kLeastBarPoints)) title = scale.brief;
  const float words = ImGui::CalcTextSize(title).x;
  const float bar = std::min(room - words - gap, points(kMostBarPoints));
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float top = corner.y + points(6);
  list.AddText({left + edge, top - points(1)}, ImGui::GetColorU32(kDim), title);
  if (bar < points(20)) return;
  const ImVec2 low{left + edge + words + gap, top}, high{low.x + bar, top + points(kBarPoints)};
  draw_bar(list, scale, low, high);
  draw_marks_below(list, scale, low, high);
}

}  // namespace

bool needs_legend(const ViewSettings& settings, const ViewFacts& facts) {
  return shows_lod(settings, facts) || shows_damage(settings, facts) || shows_tiles(settings, facts);
}

void Legend::draw(const ViewSettings& settings, const ViewFacts& facts, const PixelBox& area) {
  ImGui::SetNextWindowPos({static_cast<float>(area.left), static_cast<float>(area.top)});
  ImGui::SetNextWindowSize({static_cast<float>(area.right - area.left), static_cast<float>(area.bottom - area.top)});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0);
  ImGui::Begin("legend", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoFocusOnAppearing | ImGuiWindowFlags_NoNav |
                   ImGuiWindowFlags_NoBringToFrontOnFocus | ImGuiWindowFlags_NoInputs);
  area_.fill_window();
  std::vector<Scale> scales;
  if (shows_damage(settings, facts)) scales.push_back(damage_scale());
  if (shows_tiles(settings, facts)) scales.push_back(tile_scale(settings));
  if (shows_lod(settings, facts)) scales.push_back(lod_scale(settings, facts));
  const float width = ImGui::GetWindowSize().x / static_cast<float>(std::max<std::size_t>(scales.size(), 1));
  float left = ImGui::GetWindowPos().x;
  for (const Scale& scale : scales) {
    draw_scale(scale, left, width);
    left += width;
  }
  ImGui::End();
  ImGui::PopStyleVar();
}

}  // namespace saccade::ui
