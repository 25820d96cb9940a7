#include "ui/picture/marks.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

#include "ui/picture/heat_color.h"

namespace saccade::ui {
namespace {

constexpr ImU32 kShadow = IM_COL32(0, 0, 0, 170);
constexpr ImU32 kFixation = IM_COL32(255, 235, 60, 255);
constexpr ImU32 kFlight = IM_COL32(255, 130, 30, 255);
constexpr ImU32 kPast = IM_COL32(120, 220, 255, 255);
constexpr ImU32 kText = IM_COL32(255, 255, 255, 255);
constexpr double kTrail_ns = 1e9;
constexpr float kNumberPoints = 13.5f;  // the height of a fixation's number

ImU32 color_of(ViewReason reason) {
  switch (reason) {
    case ViewReason::kOverview:
      return IM_COL32(120, 220, 255, 255);
    case ViewReason::kNew:
      return IM_COL32(255, 150, 40, 255);
    case ViewReason::kLookedAt:
      return IM_COL32(255, 235, 60, 255);
    case ViewReason::kDetail:
      return IM_COL32(130, 230, 130, 255);
  }
  return kText;
}

ImU32 with_alpha(ImU32 color, float alpha) {
  const auto a = static_cast<ImU32>(std::clamp(alpha, 0.0f, 1.0f) * 255.0f);
  return (color & ~IM_COL32_A_MASK) | (a << IM_COL32_A_SHIFT);
}

// Draws with the picture's coordinates.
class Marks {
 public:
  Marks(const Scene& scene, const PictureMapping& mapping, float scale)
      : list_(*ImGui::GetBackgroundDrawList()), scene_(scene), mapping_(mapping), scale_(scale) {}

  void outlines(const PatchPlan& plan) {
    const float range = lod_range(scene_.size, scene_.fovea, scene_.coarsest_lod);
    for (const Patch& patch : plan.patches) {
      if (patch.coverage <= 0) continue;
      const float half_px = 0.5f * static_cast<float>(plan.patch_size) * std::exp2(patch.lod);
      const ImVec2 low = at_px(patch.x_px - half_px, patch.y_px - half_px);
      const ImVec2 high = at_px(patch.x_px + half_px, patch.y_px + half_px);
      list_.AddRect(low, high, heat_color(patch.lod / range, 0.8f), 0, 0, std::max(1.0f, std::floor(scale_)));
    }
  }

  // Each box, and above it, or in its corner, what it is for and its tokens.
  void boxes(std::span<const saccade::View> views, const PixelBox& area) {
    const float pad = 3 * scale_;
    for (const saccade::View& view : views) {
      const FrameBox& box = view.box;
      const ImVec2 low = at_px(static_cast<float>(box.x), static_cast<float>(box.y));
      const ImVec2 high = at_px(static_cast<float>(box.x + box.width), static_cast<float>(box.y + box.height));
      const ImU32 color = color_of(view.reason);
      list_.AddRect(low, high, kShadow, 0, 0, 4 * scale_);
      list_.AddRect(low, high, color, 0, 0, 2 * scale_);
      const std::string words = fmt::format("{} {}", name(view.reason), view.tokens);
      const ImVec2 size = ImGui::CalcTextSize(words.c_str());
      const float above = low.y - size.y - 2 * scale_;
      const ImVec2 at{low.x, above >= static_cast<float>(area.top) ? above : low.y + 2 * scale_};
      list_.AddRectFilled(at, {at.x + size.x + 2 * pad, at.y + size.y}, with_alpha(kShadow, 0.9f));
      list_.AddText({at.x + pad, at.y}, color, words.c_str());
    }
  }

  void trail(const ViewFacts& facts) {
    for (std::size_t i = 1; i < facts.look.trail.size(); ++i) {
      const GazeSample& from = facts.look.trail[i - 1];
      const GazeSample& to = facts.look.trail[i];
      const auto age = static_cast<float>(static_cast<double>(facts.time.pts_ns - to.pts_ns) / kTrail_ns);
      list_.AddLine(at_uv(from.u, from.v), at_uv(to.u, to.v), with_alpha(kFlight, 1.0f - age), 2.0f * scale_);
    }
  }

  void fixation(const Gaze& gaze) {
    const ImVec2 at = at_uv(gaze.u, gaze.v);
    const ImU32 color = gaze.in_flight ? kFlight : kFixation;
    const float radius = 11.0f * scale_;
    list_.AddCircle(at, radius, kShadow, 32, 4.0f * scale_);
    list_.AddCircle(at, radius, color, 32, 2.0f * scale_);
    for (const float sign : {-1.0f, 1.0f}) {
      line({at.x + sign * 4 * scale_, at.y}, {at.x + sign * 16 * scale_, at.y}, color);
      line({at.x, at.y + sign * 4 * scale_}, {at.x, at.y + sign * 16 * scale_}, color);
    }
  }

  void scanpath(const ViewFacts& facts) {
    const auto& past = facts.look.fixations;
    const std::size_t first = past.size() > 20 ? past.size() - 20 : 0;
    for (std::size_t i = first + 1; i < past.size(); ++i) {
      list_.AddLine(at_uv(past[i - 1].u, past[i - 1].v), at_uv(past[i].u, past[i].v), with_alpha(kPast, 0.5f),
                    1.5f * scale_);
    }
    for (std::size_t i = first; i < past.size(); ++i) {
      const ImVec2 at = at_uv(past[i].u, past[i].v);
      const std::string number = fmt::format("{}", past[i].number);
      const ImVec2 size = ImGui::CalcTextSize(number.c_str());
      const float radius = std::max(size.x, kNumberPoints * scale_) * 0.5f + 3.0f * scale_;
      list_.AddCircleFilled(at, radius, kShadow, 24);
      list_.AddCircle(at, radius, kPast, 24, 1.5f * scale_);
      list_.AddText({at.x - size.x / 2, at.y - size.y / 2}, kText, number.c_str());
    }
  }

 private:
  ImVec2 at_px(float x_px, float y_px) const { return {mapping_.to_window_x(x_px), mapping_.to_window_y(y_px)}; }
  ImVec2 at_uv(float u, float v) const {
    return at_px(u * static_cast<float>(scene_.size.width_px), v * static_cast<float>(scene_.size.height_px));
  }
  void line(ImVec2 from, ImVec2 to, ImU32 color) {
    list_.AddLine(from, to, kShadow, 3.0f * scale_);
    list_.AddLine(from, to, color, 1.5f * scale_);
  }

  ImDrawList& list_;
  const Scene& scene_;
  const PictureMapping& mapping_;
  float scale_;
};

}  // namespace

void draw_marks(const ViewSettings& settings, const ViewFacts& facts, const Scene& scene, const PatchPlan* plan,
                const PictureMapping& mapping, const PixelBox& area, float scale) {
  if (scene.pyramid == nullptr) return;
  ImDrawList& list = *ImGui::GetBackgroundDrawList();
  list.PushClipRect({static_cast<float>(area.left), static_cast<float>(area.top)},
                    {static_cast<float>(area.right), static_cast<float>(area.bottom)});
  Marks marks(scene, mapping, scale);
  if (settings.outlines && plan != nullptr) marks.outlines(*plan);
  if (settings.boxes) marks.boxes(facts.views.last, area);
  if (settings.scanpath) marks.scanpath(facts);
  if (settings.marks) {
    marks.trail(facts);
    marks.fixation(facts.look.gaze);
  }
  list.PopClipRect();
}

void draw_caption(std::string_view words, const PixelBox& area) {
  const char* const end = words.data() + words.size();
  const ImVec2 low{static_cast<float>(area.left), static_cast<float>(area.top)};
  const ImVec2 high{static_cast<float>(area.right), static_cast<float>(area.bottom)};
  const ImVec2 size = ImGui::CalcTextSize(words.data(), end);
  ImDrawList& list = *ImGui::GetBackgroundDrawList();
  list.PushClipRect(low, high);
  const float x = std::floor(std::max((low.x + high.x - size.x) / 2, low.x));
  list.AddText({x, std::floor((low.y + high.y - size.y) / 2)}, kText, words.data(), end);
  list.PopClipRect();
}

}  // namespace saccade::ui
