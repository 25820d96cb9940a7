#include "ui/panel/settings_panel.h"

#include <imgui.h>

#include <algorithm>

#include "ui/panel/overlay_text.h"
#include "ui/panel/settings_edits.h"

namespace saccade::ui {
namespace {

constexpr float kLabelPoints = 80;

// What a policy takes as its argument, as a hint; null: none.
const char* argument_hint(FixationPolicy policy) {
  switch (policy) {
    case FixationPolicy::kCenter:
      return "U,V (default 0.5,0.5)";
    case FixationPolicy::kRaster:
      return "COLSxROWS (default 4x3)";
    case FixationPolicy::kFile:
      return "path of a CSV: t_s,u,v";
    case FixationPolicy::kSaliency:
    case FixationPolicy::kRandom:
      break;
  }
  return nullptr;
}

// A list of an enum's names to choose from.
template <NamedEnum E>
bool combo(const char* id, E& value) {
  bool changed = false;
  if (!ImGui::BeginCombo(id, name(value))) return false;
  for (const EnumName<E>& row : names_of(value)) {
    if (!ImGui::Selectable(row.text, row.value == value)) continue;
    value = row.value;
    changed = true;
  }
  ImGui::EndCombo();
  return changed;
}

// A label at the left; the control that follows fills the rest.
void label(const char* what, const char* tip) {
  ImGui::AlignTextToFramePadding();
  text_colored(kDim, "{}", what);
  tooltip(tip);
  ImGui::SameLine(points(kLabelPoints));
  ImGui::SetNextItemWidth(-1);
}

bool slider(const char* what, const char* id, int& value, int low, int high, const char* format, const char* tip,
            ImGuiSliderFlags flags = 0) {
  label(what, tip);
  const bool changed = ImGui::SliderInt(id, &value, low, high, format, flags);
  tooltip(tip);
  if (changed) value = std::clamp(value, low, high);  // typed values too
  return changed;
}

bool slider(const char* what, const char* id, double& value, double low, double high, const char* format,
            const char* tip, ImGuiSliderFlags flags = 0) {
  label(what, tip);
  const bool changed = ImGui::SliderScalar(id, ImGuiDataType_Double, &value, &low, &high, format, flags);
  tooltip(tip);
  if (changed) value = std::clamp(value, low, high);
  return changed;
}

bool box(const char* what, bool& value, const char* tip) {
  const bool changed = ImGui::Checkbox(what, &value);
  tooltip(tip);
  return changed;
}

}  // namespace

void SettingsPanel::view_rows(ViewSettings& settings, const ViewFacts& facts, const Note& note) {
  label("view", "What is drawn. Tab: the next one.");
  combo("##view", settings.view);
  note("view");
  if (settings.view == View::kLevel) {
    const int top = facts.pyramid != nullptr ? settings.pipeline.levels - 1 : 0;
    slider("level", "##level", settings.level, 0, std::max(top, 0), "%d", "Level of the pyramid. Keys: the digits.");
    note("level");
  }
  if (settings.view == View::kSplit) {
    label("split", "Share of the width that shows the frame; the rest shows what the eye would see.");
    ImGui::SliderFloat("##split", &settings.split, 0.0f, 1.0f, "%.2f");
    note("split");
  }
  slider("speed", "##speed", settings.speed, 0.1, 4.0, "%.2f x", "Of the video's time against the clock. Keys: [ ]",
         ImGuiSliderFlags_Logarithmic);
  note("speed");
  const float third = ImGui::GetContentRegionAvail().x / 3;
  const float left = ImGui::GetCursorPosX();
  box("marks", settings.marks, "Fixation and the trail of the last saccades (m)");
  note("marks");
  ImGui::SameLine(left + third);
  box("outlines", settings.outlines, "Outlines of the patches around the fixation (o)");
  note("outlines");
  ImGui::SameLine(left + 2 * third);
  box("scanpath", settings.scanpath, "Past fixations with their numbers (k)");
  note("scanpath");
  box("linear", settings.linear, "Enlarge with linear filtering; off: hard texels (n)");
  note("linear");
  ImGui::SameLine(left + third);
  box("loop", settings.loop, "Begin again at the end (l)");
  note("loop");
  ImGui::SameLine(left + 2 * third);
  box("vsync", settings.vsync, "Wait for the screen's refresh (v)");
  note("vsync");
}

void SettingsPanel::texture_rows(PipelineConfig& config, const Note& note) {
  changed_ |= slider("levels", "##levels", config.levels, 1, kMaxLevels, "%d",
                     "Levels of the pyramid, level 0 included. A change uploads everything again.");
  note("levels");
  changed_ |= slider("threshold", "##threshold", config.diff.threshold, 0, 64, "%d codes",
                     "A sample changed when it differs from the held picture by more than this many 8-bit codes. 0: "
                     "exact. Raise it to let codec noise pass.");
  note("threshold");
  changed_ |= slider("min pixels", "##min-pixels", config.diff.min_pixels, 0, 384, "%d samples",
                     "A tile of 16x16 pixels (384 samples with its chroma) is damaged when more than this many of its "
                     "samples changed.");
  note("min-pixels");
}

void SettingsPanel::lattice_rows(PipelineConfig& config, const ViewFacts& facts, const Note& note) {
  LatticeConfig& lattice = config.lattice;
  label("lattice",
        "How patches lie: square rings of exact texels, an even grid of centres, or one resolution for all.");
  patches_ = patches_asked(lattice).value_or(patches_);
  LatticeKind kind = lattice_kind(lattice);
  if (combo("##lattice", kind)) {
    set_lattice_kind(config, kind, patches_);
    changed_ = true;
  }
  note("lattice");
  int patches = patches_asked(lattice).value_or(facts.look.patches > 0 ? facts.look.patches : patches_);
  if (slider(
          "N", "##patches", patches, 16, 2048, "%d patches",
          "How many patches. Nested: a budget that is not exceeded, from which e0 = M0 is solved; moving it gives up "
          "an e0 of your own.",
          ImGuiSliderFlags_Logarithmic)) {
    set_patches(config, patches);
    changed_ = true;
  }
  note("patches");
  auto* uniform = std::get_if<UniformShape>(&lattice.shape);
  if (uniform == nullptr) return;
  double lod = facts.look.plan != nullptr && !facts.look.plan->patches.empty()
                   ? static_cast<double>(facts.look.plan->patches[0].lod)
                   : uniform->lod.value_or(0.0);
  if (slider("lod", "##lod", lod, 0, config.levels - 1, "%.2f",
             "The one level of detail of all patches: a sample is 2^lod pixels wide.")) {
    uniform->lod = lod;
    changed_ = true;
  }
  note("lod");
}

void SettingsPanel::fovea_rows(PipelineConfig& config, const ViewFacts& facts, const Note& note) {
  double fov_deg = config.lattice.fov_deg;
  if (slider("view angle", "##fov-deg", fov_deg, 5, 180, "%.0f deg",
             "Horizontal field of view that the frame spans, in degrees of visual angle.")) {
    set_fov(config, fov_deg);
    changed_ = true;
  }
  note("fov-deg");
  lattice_rows(config, facts, note);
  const FoveaPreset* preset = preset_of(config.lattice);
  const bool solved = follows_budget(config.lattice);
  label("preset", "Published values of M0 and e0.");
  if (ImGui::BeginCombo("##preset", preset != nullptr ? preset->name : solved ? "solved from N" : "own values")) {
    for (const FoveaPreset& choice : kFoveaPresets) {
      if (!ImGui::Selectable(choice.name, &choice == preset)) continue;
      set_preset(config, choice);
      changed_ = true;
    }
    ImGui::EndCombo();
  }
  note("preset");
  const Acuity* acuity = acuity_of(config.lattice);
  const bool uv = acuity != nullptr && acuity->unit == FoveaUnit::kUv;
  const bool tied = acuity == nullptr || acuity->m0 == acuity->e0;
  double e0 = acuity != nullptr ? acuity->e0 : facts.look.solved_e0 > 0 ? facts.look.solved_e0 : Acuity{}.e0;
  double m0 = acuity != nullptr ? acuity->m0 : facts.look.solved_m0 > 0 ? facts.look.solved_m0 : e0;
  ImGui::BeginDisabled(uv);
  const bool e0_moved = slider("e0", "##e0", e0, 0.05, 20, uv ? "%.2f uv" : "%.2f deg",
                               "Eccentricity at which resolution halves (with M0 = e0). Smaller: blurs sooner. Nested: "
                               "as many patches as that takes.",
                               ImGuiSliderFlags_Logarithmic);
  note("e0");
  const bool m0_moved = slider("M0", "##m0", m0, 0.05, 20, uv ? "%.2f uv" : "%.2f deg",
                               "Magnification is M0 / (e + e0). Equal to e0: full resolution just at the fixation. "
                               "Larger: a plateau of radius M0 - e0. Smaller: blurred even there.",
                               ImGuiSliderFlags_Logarithmic);
  note("m0");
  ImGui::EndDisabled();
  if (e0_moved || m0_moved) {
    // An M0 that was equal to e0 stays so.
    set_fovea(config, e0, e0_moved && tied ? e0 : m0);
    changed_ = true;
  }
  curve_.draw(config, facts);
}

void SettingsPanel::scanpath_rows(PipelineConfig& config, const Note& note) {
  ScanpathConfig& scanpath = config.scanpath;
  FixationPolicy policy = asks_path_ ? FixationPolicy::kFile : scanpath.policy;
  label("policy", "Where the eye goes next. A click on the picture holds it there; g lets it go again.");
  if (combo("##policy", policy)) {
    asks_path_ = policy == FixationPolicy::kFile && scanpath.policy != FixationPolicy::kFile;
    if (!asks_path_) {
      set_policy(config, policy);
      changed_ = true;
    }
  }
  note("policy");
  if (const char* hint = argument_hint(policy)) {
    label("", "");
    std::array<char, 256> argument{};
    if (!asks_path_) scanpath.argument.copy(argument.data(), argument.size() - 1);
    if (ImGui::InputTextWithHint("##argument", hint, argument.data(), argument.size(),
                                 ImGuiInputTextFlags_EnterReturnsTrue)) {
      if (asks_path_) set_policy(config, FixationPolicy::kFile);
      asks_path_ = false;
      scanpath.argument = argument.data();
      changed_ = true;
    }
    note("argument");
  }
  changed_ |= slider("rate", "##rate", scanpath.rate_hz, 0.25, 20, "%.2f Hz",
                     "Fixations a second, in the video's own time.", ImGuiSliderFlags_Logarithmic);
  note("rate");
  label("seed", "Seed of what is random.");
  auto seed = static_cast<int>(std::min<std::uint64_t>(scanpath.seed, 999999999));
  if (ImGui::InputInt("##seed", &seed, 1, 100)) {
    scanpath.seed = static_cast<std::uint64_t>(std::max(seed, 0));
    changed_ = true;
  }
  note("seed");
}

// In the buttons' place while it waits for an answer.
void SettingsPanel::ask_to_replace(const std::string& path, ViewRequests& requests, const Note& note) {
  ImGui::PushTextWrapPos(0);
  text_colored(kAccent, "{} exists", path);
  ImGui::PopTextWrapPos();
  if (ImGui::Button("replace it")) {
    requests.save_settings = path;
    requests.replace = true;
  }
  note("replace");
  ImGui::SameLine();
  if (ImGui::Button("keep it")) requests.keep_file = true;
  tooltip("Nothing is saved (Esc).");
  note("keep");
}

void SettingsPanel::buttons(ViewSettings& settings, ViewRequests& requests, const Note& note) {
  if (ImGui::Button("reset")) {
    reset_settings(settings, initial_);
    requests.reset_settings = true;
    asks_path_ = false;
    patches_ = kDefaultPatches;
    changed_ = true;
  }
  tooltip("All of these and the zoom, back to how it began.");
  note("reset");
  ImGui::SameLine();
  if (ImGui::Button("save")) requests.save_settings = save_path_.data();
  tooltip("Write the settings as TOML: a dump with that configuration runs just what is seen here.");
  note("save");
  ImGui::SameLine();
  ImGui::SetNextItemWidth(-1);
  ImGui::InputText("##save-path", save_path_.data(), save_path_.size());
  tooltip("The file that save writes.");
  note("save-path");
}

void SettingsPanel::draw(ViewSettings& settings, const ViewFacts& facts, ViewRequests& requests, const Note& note) {
  changed_ = false;
  title("view");
  view_rows(settings, facts, note);
  title("texture and damage");
  texture_rows(settings.pipeline, note);
  title("fovea and patches");
  fovea_rows(settings.pipeline, facts, note);
  title("scanpath");
  scanpath_rows(settings.pipeline, note);
  ImGui::Dummy({0, points(2)});
  if (facts.save_exists.empty()) {
    buttons(settings, requests, note);
  } else {
    ask_to_replace(facts.save_exists, requests, note);
  }
  requests.configure = requests.configure || changed_;
}

}  // namespace saccade::ui
