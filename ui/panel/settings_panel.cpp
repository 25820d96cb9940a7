#include "ui/panel/settings_panel.h"

#include <imgui.h>

#include <algorithm>
#include <optional>
#include <span>

#include "ui/panel/overlay_text.h"
#include "ui/panel/rows.h"
#include "ui/picture/frame_renderer.h"
#include "ui/tuning/settings_edits.h"
#include "ui/tuning/words.h"

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

// A list of an enum's values, in words. words_of: null for those that are not offered.
template <NamedEnum E, typename WordsOf>
RowEdit words_row(const Row& row, E& value, bool differs, const Note& note, const WordsOf& words_of) {
  std::array<const char*, 16> words{};
  std::array<E, 16> values{};
  std::size_t count = 0, chosen = words.size();
  for (const EnumName<E>& each : names_of(value)) {
    const char* const text = words_of(each.value);
    if (text == nullptr) continue;
    if (each.value == value) chosen = count;
    words[count] = text;
    values[count++] = each.value;
  }
  const RowEdit edit = combo_row(row, std::span(words).first(count), chosen, differs, note);
  if (edit == RowEdit::kChanged) value = values[chosen];
  return edit;
}

template <NamedEnum E>
RowEdit words_row(const Row& row, E& value, bool differs, const Note& note) {
  return words_row(row, value, differs, note, [](E each) { return in_words(each); });
}

bool box(const char* what, bool& value, const char* tip) {
  const bool changed = ImGui::Checkbox(what, &value);
  tooltip(tip);
  return changed;
}

}  // namespace

void SettingsPanel::view_row(ViewSettings& settings, const ViewFacts& facts, const Note& note) const {
  const bool recorded = facts.look.recorded;
  const auto words_of = [recorded](View view) {
    return recorded && needs_video(view) ? nullptr : in_words(view, recorded);
  };
  const RowEdit edit = words_row({"view", "view", "What is drawn. Tab: the next one."}, settings.view,
                                 settings.view != initial_.view, note, words_of);
  if (edit == RowEdit::kReset) settings.view = initial_.view;
}

void SettingsPanel::view_rows(ViewSettings& settings, const ViewFacts& facts, const Note& note) const {
  view_row(settings, facts, note);
  if (settings.view == View::kLevel) {
    const int top = facts.pyramid != nullptr ? facts.pyramid->layout().levels - 1 : 0;
    number_row({"level", "level", "Level of the pyramid. Keys: the digits."}, settings.level, 0, std::max(top, 0), "%d",
               initial_.level, note);
  }
  if (settings.view == View::kSplit) {
    auto split = static_cast<double>(settings.split);
    if (number_row({"seam at", "split", "Share of the width that shows the frame; the rest shows what the eye sees."},
                   split, 0.0, 1.0, "%.2f", static_cast<double>(initial_.split), note)) {
      settings.split = static_cast<float>(split);
    }
  }
  if (settings.view == View::kCompare) {
    const RowEdit edit = words_row({"against", "compare", "The lattice that gets as many patches, at the right."},
                                   settings.compare, settings.compare != initial_.compare, note);
    if (edit == RowEdit::kReset) settings.compare = initial_.compare;
  }
  number_row({"speed", "speed", "Of the video's time against the clock. Keys: [ ]"}, settings.speed, 0.1, 16.0,
             "%.2f x", initial_.speed, note, ImGuiSliderFlags_Logarithmic);
  boxes(settings, note);
}

// Two lines of three, each with a reset of its own.
void SettingsPanel::boxes(ViewSettings& settings, const Note& note) const {
  struct Box {
    const char* name;
    bool ViewSettings::*value;
    const char* tip;
  };
  constexpr std::array<Box, 6> kBoxes{
      {{"marks", &ViewSettings::marks, "Fixation and the trail of the last saccades (m)"},
       {"outlines", &ViewSettings::outlines, "Outlines of the patches around the fixation (o)"},
       {"scanpath", &ViewSettings::scanpath, "Past fixations with their numbers (k)"},
       {"linear", &ViewSettings::linear, "Enlarge with linear filtering; off: hard texels (n)"},
       {"loop", &ViewSettings::loop, "Begin again at the end (l)"},
       {"vsync", &ViewSettings::vsync, "Wait for the screen's refresh (v)"}}};
  const float third = (ImGui::GetContentRegionAvail().x - reset_width()) / 3;
  const float left = ImGui::GetCursorPosX();
  for (std::size_t line = 0; line < kBoxes.size(); line += 3) {
    bool differs = false;
    const auto boxes = std::span(kBoxes).subspan(line, 3);
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      if (i > 0) ImGui::SameLine(left + third * static_cast<float>(i));
      box(boxes[i].name, settings.*boxes[i].value, boxes[i].tip);
      note(boxes[i].name);
      differs |= settings.*boxes[i].value != initial_.*boxes[i].value;
    }
    ImGui::SameLine(left + 3 * third);
    ImGui::SetCursorPosX(left + 3 * third - points(4));
    if (!reset_button({"", line == 0 ? "marks" : "playing", ""}, differs, note)) continue;
    for (const Box& each : boxes) settings.*each.value = initial_.*each.value;
  }
}

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
  changed_ |= number_row({"min samples", "min-pixels",
                          "A tile of 16x16 pixels is damaged when more than this many of its samples changed. All: "
                          "384 with chroma of half the resolution, 768 of R'G'B'."},
                         config.diff.min_pixels, 0, samples, "%d", initial.diff.min_pixels, note);
}

void SettingsPanel::uniform_row(PipelineConfig& config, const ViewFacts& facts, const Note& note) {
  auto* uniform = std::get_if<UniformShape>(&config.lattice.shape);
  if (uniform == nullptr) return;
  const auto* began = std::get_if<UniformShape>(&initial_.pipeline.lattice.shape);
  const std::optional<double> initial = began != nullptr ? began->lod : std::nullopt;
  double lod = facts.look.plan != nullptr && !facts.look.plan->patches.empty()
                   ? static_cast<double>(facts.look.plan->patches[0].lod)
                   : uniform->lod.value_or(0.0);
  const RowEdit edit = slider_row({"detail", "lod",
                                   "The one level of detail of all patches: a sample is 2 to the power of this many "
                                   "pixels wide."},
                                  lod, 0, config.levels - 1, "%.2f", uniform->lod != initial, note);
  if (edit == RowEdit::kNone) return;
  uniform->lod = edit == RowEdit::kReset ? initial : lod;
  changed_ = true;
}

void SettingsPanel::lattice_rows(PipelineConfig& config, const ViewFacts& facts, const Note& note) {
  LatticeConfig& lattice = config.lattice;
  const PipelineConfig& initial = initial_.pipeline;
  patches_ = patches_asked(lattice).value_or(patches_);
  LatticeKind kind = lattice_kind(lattice);
  RowEdit edit =
      words_row({"lattice", "lattice",
                 "How patches lie: square rings of exact texels, an even grid of centres, or one resolution for all."},
                kind, kind != lattice_kind(initial.lattice), note);
  if (edit == RowEdit::kReset) reset_lattice_kind(config, initial, patches_);
  if (edit == RowEdit::kChanged) set_lattice_kind(config, kind, patches_);
  changed_ |= edit != RowEdit::kNone;
  int patches = patches_asked(lattice).value_or(facts.look.patches > 0 ? facts.look.patches : patches_);
  edit = slider_row({"patches", "patches",
                     "How many, from the fewest that cover this frame to those of full resolution. Nested rings: never "
                     "more, and e0 = M0 is solved from it; moving it gives up an e0 of your own."},
                    patches, ranges_.patches().low, ranges_.patches().high, "%d",
                    patches_asked(lattice) != patches_asked(initial.lattice), note, ImGuiSliderFlags_Logarithmic);
  if (edit == RowEdit::kReset) reset_patches(config, initial);
  if (edit == RowEdit::kChanged) set_patches(config, patches);
  changed_ |= edit != RowEdit::kNone;
  uniform_row(config, facts, note);
}

void SettingsPanel::acuity_rows(PipelineConfig& config, const ViewFacts& facts, const Note& note) {
  const Acuity* acuity = acuity_of(config.lattice);
  const Acuity* began = acuity_of(initial_.pipeline.lattice);
  const bool differs = (acuity == nullptr) != (began == nullptr) || (acuity != nullptr && *acuity != *began);
  std::array<const char*, kFoveaPresets.size()> words{};
  std::size_t chosen = words.size();
  for (std::size_t i = 0; i < words.size(); ++i) {
    words[i] = kFoveaPresets[i].name;
    if (acuity != nullptr && kFoveaPresets[i].acuity == *acuity) chosen = i;
  }
  RowEdit edit = combo_row({"preset", "preset", "Published values of M0 and e0."}, words, chosen, differs, note,
                           follows_budget(config.lattice) ? "solved from the patches" : "own values");
  if (edit == RowEdit::kChanged) set_preset(config, kFoveaPresets[chosen]);
  if (edit == RowEdit::kReset) reset_fovea(config, initial_.pipeline);
  changed_ |= edit != RowEdit::kNone;
  acuity = acuity_of(config.lattice);
  const bool uv = acuity != nullptr && acuity->unit == FoveaUnit::kUv;
  const bool tied = acuity == nullptr || acuity->m0 == acuity->e0;
  double e0 = acuity != nullptr ? acuity->e0 : facts.look.solved_e0 > 0 ? facts.look.solved_e0 : Acuity{}.e0;
  double m0 = acuity != nullptr ? acuity->m0 : facts.look.solved_m0 > 0 ? facts.look.solved_m0 : e0;
  const char* format = uv ? "%.2f uv" : "%.2f\u00b0";
  ImGui::BeginDisabled(uv);  // that preset is all there is in this unit
  const RowEdit e0_edit = slider_row({"e0", "e0",
                                      "Eccentricity at which resolution halves (with M0 = e0). Smaller: blurs sooner. "
                                      "Nested rings: as many patches as that takes."},
                                     e0, 0.05, 20, format, differs && !uv, note, ImGuiSliderFlags_Logarithmic);
  const RowEdit m0_edit = slider_row({"M0", "m0",
                                      "Magnification is M0 / (e + e0). Equal to e0: full resolution just at the "
                                      "fixation. Larger: a plateau of radius M0 - e0. Smaller: blurred even there."},
                                     m0, 0.05, 20, format, differs && !uv, note, ImGuiSliderFlags_Logarithmic);
  ImGui::EndDisabled();
  if (e0_edit == RowEdit::kReset || m0_edit == RowEdit::kReset) {
    reset_fovea(config, initial_.pipeline);
  } else if (e0_edit == RowEdit::kChanged) {
    set_fovea(config, e0, tied ? e0 : m0);  // an M0 that was equal to e0 stays so
  } else if (m0_edit == RowEdit::kChanged) {
    set_fovea(config, e0, m0);
  }
  changed_ |= e0_edit != RowEdit::kNone || m0_edit != RowEdit::kNone;
}

void SettingsPanel::fovea_rows(PipelineConfig& config, const ViewFacts& facts, const Note& note) {
  const double began = initial_.pipeline.lattice.fov_deg;
  double fov_deg = config.lattice.fov_deg;
  if (number_row(
          {"view angle", "fov-deg", "Horizontal field of view that the frame spans, in degrees of visual angle."},
          fov_deg, 5.0, 180.0, "%.0f\u00b0", began, note)) {
    set_fov(config, fov_deg);
    changed_ = true;
  }
  lattice_rows(config, facts, note);
  acuity_rows(config, facts, note);
  curve_.draw(config, facts);
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
