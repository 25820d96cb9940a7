#include "ui/viewer/imgui_layer.h"

#include <backends/imgui_impl_opengl3.h>
#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>
#include <utility>

#include "gpu/gl/objects.h"
#include "pipeline/clock.h"
#include "ui/panel/overlay_text.h"

namespace saccade::ui {
namespace {

constexpr float kOffscreenFrame_s = 1.0f / 60.0f;

// All sizes for `scale` pixels a point.
void set_scale(float scale) {
  ImGuiStyle style;
  ImGui::StyleColorsDark(&style);
  style.WindowRounding = 4;
  style.FrameRounding = 3;
  style.GrabRounding = 3;
  style.WindowPadding = {8, 8};
  style.FramePadding = {5, 2};
  style.ItemSpacing = {6, 3};
  style.ScaleAllSizes(scale);
  ImGui::GetStyle() = style;
}

}  // namespace

ImguiLayer::ImguiLayer(Surface surface) : surface_(surface), context_(ImGui::CreateContext()) {
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;  // nothing is left behind in the folder it runs in
  io.LogFilename = nullptr;
  io.UserData = &scale_;  // see points()
  ImGui_ImplOpenGL3_Init("#version 450 core");
}

ImguiLayer::~ImguiLayer() {
  ImGui_ImplOpenGL3_Shutdown();
  ImGui::DestroyContext(context_);
}

void ImguiLayer::need(std::span<const std::string_view> texts) {
  for (const std::string_view text : texts) text_.need(text);
}

void ImguiLayer::begin(int width_px, int height_px, float scale) {
  if (scale != scale_ || text_.changed()) {
    ImGui_ImplOpenGL3_NewFrame();  // makes its objects, once
    text_.load(kFontPoints * scale);
    ImGui_ImplOpenGL3_DestroyFontsTexture();
    ImGui_ImplOpenGL3_CreateFontsTexture();
    set_scale(scale);
    scale_ = scale;
  }
  ImGui_ImplOpenGL3_NewFrame();
  ImGuiIO& io = ImGui::GetIO();
  io.DeltaTime = frame_s();
  io.DisplaySize = {static_cast<float>(width_px), static_cast<float>(height_px)};
  io.DisplayFramebufferScale = {1, 1};
  ImGui::NewFrame();
}

// Real time where a person clicks: two slow clicks are no double click.
float ImguiLayer::frame_s() {
  const std::int64_t before_ns = std::exchange(begun_ns_, steady_now_ns());
  if (surface_ == Surface::kPictures || before_ns == 0) return kOffscreenFrame_s;
  return std::max(static_cast<float>(begun_ns_ - before_ns) * 1e-9f, 1e-5f);
}

void ImguiLayer::drop() { ImGui::EndFrame(); }

void ImguiLayer::end() {
  ImGui::Render();
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}

bool ImguiLayer::wants_mouse() const { return ImGui::GetIO().WantCaptureMouse; }
// io.WantTextInput is a frame late: it would take a key that is typed right after Enter.
bool ImguiLayer::wants_keyboard() const {
  return context_->ActiveId != 0 && context_->ActiveId == context_->InputTextState.ID;
}

bool ImguiLayer::has_list() const {
  return ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel);
}

void ImguiLayer::close_list() {
  if (has_list()) ImGui::ClosePopupToLevel(0, false);
}

}  // namespace saccade::ui
