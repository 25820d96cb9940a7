#include "ui/panel/thumbnails.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "gpu/gl/keep_target.h"
#include "ui/panel/overlay_text.h"

namespace saccade::ui {
namespace {

constexpr int kColumns = 4;

ImTextureID texture_id(const gl::Texture& texture) {
  return reinterpret_cast<ImTextureID>(static_cast<std::intptr_t>(texture.name()));
}

void draw_label(int level, bool chosen, ImVec2 low, ImVec2 high) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  fmt::basic_memory_buffer<char, 16> number;
  fmt::format_to(std::back_inserter(number), "{}", level);
  const char* end = number.data() + number.size();
  const ImVec2 size = ImGui::CalcTextSize(number.data(), end);
  list.AddRectFilled(low, {low.x + size.x + points(4), low.y + size.y}, IM_COL32(0, 0, 0, 170));
  list.AddText({low.x + points(2), low.y}, IM_COL32_WHITE, number.data(), end);
  list.AddRect(low, high, chosen ? ImGui::GetColorU32(kAccent) : IM_COL32(255, 255, 255, 50), 0, 0, points(1));
}

void level_tooltip(int level, const PyramidLayout& layout) {
  if (!ImGui::IsItemHovered()) return;
  ImGui::BeginTooltip();
  const PlaneLayout& plane = layout.planes[0];
  text("level {}: {} x {} texels of {} x {} pixels", level, plane.width >> level, plane.height >> level, 1 << level,
       1 << level);
  ImGui::TextUnformatted("click: show it");
  ImGui::EndTooltip();
}

}  // namespace

void Thumbnails::resize(int levels, int width_px, int height_px) {
  if (levels_ == levels && width_px == width_px_ && height_px == height_px_) return;
  sheet_ = gl::Texture(GL_RGBA8, width_px, height_px * levels, 1);
  sheet_.set_parameter(GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  sheet_.set_parameter(GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  framebuffer_ = gl::Framebuffer(sheet_, 0);
  levels_ = levels;
  width_px_ = width_px;
  height_px_ = height_px;
  frame_ = -1;
}

PixelBox Thumbnails::cell(int level) const { return {0, level * height_px_, width_px_, (level + 1) * height_px_}; }

void Thumbnails::render(const ViewFacts& facts, const PictureSize& size) {
  if (source_ == facts.source_number && frame_ == facts.time.frame && pts_ns_ == facts.time.pts_ns &&
      pyramid_ == facts.pyramid)
    return;
  source_ = facts.source_number;
  frame_ = facts.time.frame;
  pts_ns_ = facts.time.pts_ns;
  pyramid_ = facts.pyramid;
  const gl::KeepTarget target;
  Scene scene;
  scene.pyramid = facts.pyramid;
  scene.color = facts.color;
  scene.size = size;
  if (facts.look.fovea != nullptr) scene.fovea = *facts.look.fovea;
  ViewSettings settings;
  settings.linear = false;
  PictureMapping mapping = map_picture(size, settings, width_px_, height_px_);
  const float shrink = std::max(0.0f, -std::log2(std::max(mapping.scale_x, 1e-6f)));
  framebuffer_.bind();
  renderer_.clear(width_px_, height_px_ * levels_);
  for (int level = 0; level < levels_; ++level) {
    // A level finer than the thumbnail's pixels would only alias.
    const View view = static_cast<float>(level) > shrink ? View::kLevel : View::kFrame;
    settings.level = level;
    const PixelBox visible = cell(level);
    renderer_.draw(scene, settings, view, mapping, width_px_, height_px_ * levels_, std::span(&visible, 1));
    mapping.origin_y += static_cast<float>(height_px_);
  }
}

void Thumbnails::draw(ViewSettings& settings, const ViewFacts& facts, const Note& note) {
  if (facts.pyramid == nullptr) return;
  const PyramidLayout& layout = facts.pyramid->layout();
  const float gap = points(4);
  const float width = std::floor((ImGui::GetContentRegionAvail().x - gap * (kColumns - 1)) / kColumns);
  const double aspect = std::clamp(layout.height_px / (layout.width_px * facts.sar), 0.25, 1.0);
  const float height = std::round(width * static_cast<float>(aspect));
  resize(layout.levels, static_cast<int>(width), static_cast<int>(height));
  render(facts, {layout.width_px, layout.height_px, facts.sar});
  for (int level = 0; level < levels_; ++level) {
    if (level % kColumns != 0) ImGui::SameLine(0, gap);
    const float part = 1.0f / static_cast<float>(levels_), top = 1.0f - part * static_cast<float>(level);
    ImGui::Image(texture_id(sheet_), {width, height}, {0, top}, {1, top - part});  // GL's rows count from the bottom
    fmt::basic_memory_buffer<char, 24> what;
    fmt::format_to(std::back_inserter(what), "thumbnail {}", level);
    note({what.data(), what.size()});
    level_tooltip(level, layout);
    if (ImGui::IsItemClicked()) {
      settings.view = View::kLevel;
      settings.level = level;
    }
    draw_label(level, settings.view == View::kLevel && settings.level == level, ImGui::GetItemRectMin(),
               ImGui::GetItemRectMax());
  }
}

}  // namespace saccade::ui
