#include "ui/panel/lod_curve.h"

#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "ui/panel/overlay_text.h"

namespace saccade::ui {
namespace {

constexpr ImU32 kFill = IM_COL32(20, 24, 30, 230);
constexpr ImU32 kLine = IM_COL32(255, 255, 255, 34);
constexpr ImU32 kCurve = IM_COL32(250, 209, 89, 255);
constexpr ImU32 kDot = IM_COL32(120, 220, 255, 200);
constexpr ImU32 kLabel = IM_COL32(158, 168, 184, 255);
constexpr float kHeightPoints = 100;
constexpr float kFootPoints = 15;
constexpr float kLeftPoints = 18;

// Eccentricities 0..e_max along x, levels 0..max_lod upwards.
struct Plot {
  ImVec2 low, high;
  float e_max, lod_max;
  ImVec2 at(float e, float lod) const {
    return {low.x + (high.x - low.x) * e / e_max, high.y - (high.y - low.y) * lod / lod_max};
  }
};

void label(ImDrawList& list, ImVec2 at, fmt::string_view what) {
  list.AddText(at, kLabel, what.data(), what.data() + what.size());
}

void draw_axes(ImDrawList& list, const Plot& plot, bool degrees) {
  list.AddRectFilled(plot.low, plot.high, kFill);
  const int top = static_cast<int>(plot.lod_max);
  const int step = top > 8 ? 4 : top > 3 ? 2 : 1;
  for (int level = 0; level <= top; level += step) {
    const ImVec2 at = plot.at(0, static_cast<float>(level));
    list.AddLine(at, {plot.high.x, at.y}, kLine);
    fmt::basic_memory_buffer<char, 16> number;
    fmt::format_to(std::back_inserter(number), "{:>2}", level);
    label(list, {at.x - points(kLeftPoints), at.y - points(7)}, {number.data(), number.size()});
  }
  for (int i = 1; i <= 4; ++i) {
    const float e = plot.e_max * static_cast<float>(i) / 4;
    const float x = plot.at(e, 0).x;
    list.AddLine({x, plot.low.y}, {x, plot.high.y}, kLine);
    fmt::basic_memory_buffer<char, 16> number;
    fmt::format_to(std::back_inserter(number), degrees ? fmt::runtime("{:.0f}") : fmt::runtime("{:.2f}"), e);
    const float width = ImGui::CalcTextSize(number.data(), number.data() + number.size()).x;
    label(list, {i == 4 ? x - width : x - width / 2, plot.high.y + points(1)}, {number.data(), number.size()});
  }
  label(list, {plot.low.x, plot.high.y + points(1)}, degrees ? "e, deg" : "e, uv");
  label(list, {plot.low.x + points(4), plot.low.y + points(1)}, "lod");
}

void draw_curve(ImDrawList& list, const Plot& plot, const shared::FoveaParams& fovea) {
  constexpr int kPoints = 96;
  std::array<ImVec2, kPoints + 1> line;
  for (int i = 0; i <= kPoints; ++i) {
    const float e = plot.e_max * static_cast<float>(i) / kPoints;
    line[static_cast<std::size_t>(i)] = plot.at(e, shared::level_of_detail(e, fovea));
  }
  list.AddPolyline(line.data(), kPoints + 1, kCurve, 0, points(1.5f));
}

void draw_patches(ImDrawList& list, const Plot& plot, const PatchPlan& plan, const shared::FoveaParams& fovea) {
  const float size = points(1);
  for (const Patch& patch : plan.patches) {
    const float e = shared::eccentricity(patch.x_px, patch.y_px, plan.fix_x_px, plan.fix_y_px, fovea);
    if (patch.coverage <= 0 || e > plot.e_max) continue;
    const ImVec2 at = plot.at(e, patch.lod);
    list.AddRectFilled({at.x - size, at.y - size}, {at.x + size, at.y + size}, kDot);
  }
}

}  // namespace

void LodCurve::draw(const PipelineConfig& config, const ViewFacts& facts) const {
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  ImGui::Dummy({width, points(kHeightPoints)});
  tooltip(
      "Line: level of detail lod(e) = log2((e + e0) / M0) against the distance e from the fixation. Dots: the patches' "
      "centres and levels. A sample is 2^lod pixels wide.");
  const bool degrees = fovea_unit(config.lattice) == FoveaUnit::kDegrees;
  Plot plot{};
  plot.low = {corner.x + points(kLeftPoints), corner.y + points(8)};
  plot.high = {corner.x + width, corner.y + points(kHeightPoints - kFootPoints)};
  plot.e_max = degrees ? static_cast<float>(config.lattice.fov_deg) : 1.0f;
  plot.lod_max = static_cast<float>(std::max(config.levels - 1, 1));
  ImDrawList& list = *ImGui::GetWindowDrawList();
  draw_axes(list, plot, degrees);
  if (facts.look.fovea == nullptr) return;
  list.PushClipRect(plot.low, plot.high, true);
  if (facts.look.plan != nullptr) draw_patches(list, plot, *facts.look.plan, *facts.look.fovea);
  draw_curve(list, plot, *facts.look.fovea);
  list.PopClipRect();
}

}  // namespace saccade::ui
