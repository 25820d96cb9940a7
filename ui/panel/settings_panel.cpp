#include "ui/panel/settings_panel.h"

#include <imgui.h>

#include <algorithm>

#include "ui/panel/overlay_text.h"
#include "ui/panel/rows.h"
#include "ui/picture/frame_renderer.h"
#include "ui/tuning/settings_edits.h"

namespace saccade::ui {
namespace {

// What a policy takes as its argument, as a hint; null: none.
const char* argument_hint(FixationPolicy policy) {
  switch (policy) {
    case FixationPolicy::kCenter:
      return "U,V (default 0.5,0.5)";
    case FixationPolicy::kRaster:
      return "COLSxROWS (default 4x3)";
    case FixationPolicy::kFile:
      return "a file: t_s,u,v, or an eye tracker's";
    case FixationPolicy::kNovelty:
    case FixationPolicy::kSaliency:
    case FixationPolicy::kRandom:
      break;
  }
  return nullptr;
}

}  // namespace

void SettingsPanel::texture_rows(PipelineConfig& config, const ViewFacts& facts, const Note& note) {
  const PipelineConfig& initial = initial_.pipeline;
  const bool rgba = facts.pyramid != nullptr && facts.pyramid->layout().plane_count == 1;
  const int samples = kTilePx * kTilePx * (rgba ? 6 : 3) / 2;
  changed_ |= number_row({"levels", "levels",
                          "Levels of the pyramid, level 0 included, from the fewest to the most with "
                          "which this frame works. A change uploads everything again."},
                         config.levels, ranges_.levels().low, ranges_.levels().high, "%d", initial.levels, note);
  changed_ |= number_row({"threshold", "threshold",
                          "A sample changed when it differs from the held picture by more than this many 8-bit codes. "
                          "0: exact. Raise it to let codec noise pass."},
                         config.diff.threshold, 0, 64, "%d", initial.diff.threshold, note);
  changed_ |= number_row({"min samples", "min-samples",
                          "A tile of 16x16 pixels is damaged when more than this many of its samples changed. All: "
                          "384 with chroma of half the resolution, 768 of R'G'B'."},
                         config.diff.min_samples, 0, samples, "%d", initial.diff.min_samples, note);
}

void SettingsPanel::argument_row(ScanpathConfig& scanpath, PipelineConfig& config, const Note& note) {
  const char* hint = argument_hint(asks_path_ ? FixationPolicy::kFile : scanpath.policy);
  if (hint == nullptr) return;
  row_label({"", "argument", ""}, reset_width());
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

void SettingsPanel::scanpath_rows(PipelineConfig& config, const Note& note) {
  ScanpathConfig& scanpath = config.scanpath;
  const ScanpathConfig& initial = initial_.pipeline.scanpath;
  FixationPolicy policy = asks_path_ ? FixationPolicy::kFile : scanpath.policy;
  const bool differs = policy != initial.policy || scanpath.argument != initial.argument;
  const RowEdit edit =
      words_row({"the eye", "policy", "Where it goes next. A click on the picture holds it there; g lets it go again."},
                policy, differs, note);
  if (edit == RowEdit::kReset) {
    asks_path_ = false;
    scanpath.policy = initial.policy;
    scanpath.argument = initial.argument;
    changed_ = true;
  } else if (edit == RowEdit::kChanged) {
    asks_path_ = policy == FixationPolicy::kFile && scanpath.policy != FixationPolicy::kFile;
    if (!asks_path_) set_policy(config, policy);
    changed_ = changed_ || !asks_path_;
  }
  argument_row(scanpath, config, note);
  changed_ |= number_row({"fixations", "rate", "How many a second, in the video's own time."}, scanpath.rate_hz, 0.25,
                         20.0, "%.2f /s", initial.rate_hz, note, ImGuiSliderFlags_Logarithmic);
  const Row seed_row{"seed", "seed", "Of what is random."};
  row_label(seed_row, reset_width());
  auto seed = static_cast<int>(std::min<std::uint64_t>(scanpath.seed, 999999999));
  if (ImGui::InputInt("##seed", &seed, 1, 100)) {
    scanpath.seed = static_cast<std::uint64_t>(std::max(seed, 0));
    changed_ = true;
  }
  note("seed");
  if (reset_button(seed_row, scanpath.seed != initial.seed, note)) {
    scanpath.seed = initial.seed;
    changed_ = true;
  }
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
    patches_ = kDefaultTokens;
    adaptive_ = adaptive_of(initial_.pipeline);
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

// Of a dump nothing can be tuned any more.
void SettingsPanel::recorded_rows(const ViewFacts& facts) {
  title("recorded");
  ImGui::PushTextWrapPos(0);
  text_colored(kDim, "{}", facts.look.lattice);
  text_colored(kDim, "Where the eye looked, and what it saw, as the dump holds them.");
  ImGui::PopTextWrapPos();
}

void SettingsPanel::draw(ViewSettings& settings, const ViewFacts& facts, ViewRequests& requests, const Note& note) {
  changed_ = false;
  if (facts.pyramid != nullptr) {
    const PyramidLayout& layout = facts.pyramid->layout();
    ranges_.update(settings.pipeline, {layout.width_px, layout.height_px, facts.sar, settings.pipeline.levels},
                   facts.device.most_texture_px);
  }
  title("view");
  view_rows(settings, facts, note);
  if (facts.look.recorded) return recorded_rows(facts);
  title("texture and damage");
  texture_rows(settings.pipeline, facts, note);
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
