// The panel's rows of the fovea and of the patches around it.
#include <imgui.h>

#include <array>
#include <cmath>
#include <optional>
#include <variant>

#include "ui/panel/rows.h"
#include "ui/panel/settings_panel.h"
#include "ui/tuning/settings_edits.h"

namespace saccade::ui {

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

void SettingsPanel::budget_row(PipelineConfig& config, const ViewFacts& facts, const Note& note) {
  const PipelineConfig& initial = initial_.pipeline;
  const auto asked = patches_asked(config.lattice);
  const bool adaptive = lattice_kind(config.lattice) == LatticeKind::kAdaptive;
  const Row row = adaptive ? Row{"tokens", "tokens", "The most that a look sends, as patches of 16x16 samples."}
                           : Row{"patches", "patches",
                                 "How many, from the fewest that cover this frame to those of full resolution. Nested "
                                 "rings: never more, and e0 = M0 is solved from it; moving it gives up an e0 of your "
                                 "own."};
  int patches = asked.value_or(facts.look.patches > 0 ? facts.look.patches : patches_);
  const RowEdit edit = slider_row(row, patches, ranges_.patches().low, ranges_.patches().high, "%d",
                                  asked != patches_asked(initial.lattice), note, ImGuiSliderFlags_Logarithmic);
  if (edit == RowEdit::kReset) reset_patches(config, initial);
  if (edit == RowEdit::kChanged) set_patches(config, patches);
  changed_ |= edit != RowEdit::kNone;
}

void SettingsPanel::lattice_rows(PipelineConfig& config, const ViewFacts& facts, const Note& note) {
  LatticeConfig& lattice = config.lattice;
  const PipelineConfig& initial = initial_.pipeline;
  patches_ = patches_asked(lattice).value_or(patches_);
  LatticeKind kind = lattice_kind(lattice);
  if (kind == LatticeKind::kAdaptive) adaptive_ = adaptive_of(config);
  const RowEdit edit =
      words_row({"lattice", "lattice",
                 "How patches lie: square rings of exact texels, an even grid of centres, one resolution for all, or "
                 "squares of any size where the receiver's picture is farthest from the frame."},
                kind, kind != lattice_kind(initial.lattice), note);
  if (edit == RowEdit::kReset) reset_lattice_kind(config, initial, patches_);
  if (edit == RowEdit::kChanged) set_lattice_kind(config, kind, patches_, adaptive_);
  changed_ |= edit != RowEdit::kNone;
  budget_row(config, facts, note);
  uniform_row(config, facts, note);
  if (auto* shape = std::get_if<AdaptiveShape>(&lattice.shape)) adaptive_rows(*shape, note);
}

// A slider at 0 is an option that is not given.
void SettingsPanel::adaptive_rows(AdaptiveShape& shape, const Note& note) {
  const AdaptiveShape initial = adaptive_of(initial_.pipeline);
  constexpr ImGuiSliderFlags kLog = ImGuiSliderFlags_Logarithmic;
  double rate = shape.tokens_per_second.value_or(0);  // as an integer a field of words could not be typed in
  if (number_row({"rate", "tokens-per-second",
                  "The most tokens a second, on average: a look that sends less saves up for later ones. 0: each look "
                  "may send all of its tokens."},
                 rate, 0.0, double{kMostPatches}, rate > 0 ? "%.0f /s" : "any",
                 static_cast<double>(initial.tokens_per_second.value_or(0)), note, kLog)) {
    const int whole = static_cast<int>(std::lround(rate));
    shape.tokens_per_second = whole > 0 ? std::optional(whole) : std::nullopt;
    changed_ = true;
  }
  double psnr_db = shape.target_psnr.value_or(0);
  if (number_row({"target", "target-psnr",
                  "A look sends no more than brings the receiver's picture to this PSNR of luma. 0: as much as its "
                  "tokens allow. Between 0 and the rest the receiver begins again."},
                 psnr_db, 0.0, 60.0, psnr_db > 0 ? "%.1f dB" : "none", initial.target_psnr.value_or(0), note)) {
    shape.target_psnr = psnr_db >= 1 ? std::optional(psnr_db) : std::nullopt;
    changed_ = true;
  }
  const bool seconds = shape.context.value_or(initial.context.value_or(ContextLength{})).seconds;
  double context = shape.context ? shape.context->value : 0;
  const char* const format = context <= 0 ? "all" : seconds ? "%.1f s" : "%.0f";
  if (number_row({"keeps", "context",
                  "The last tokens that the receiver keeps, or those of so many seconds if it began so. What only "
                  "older ones showed is sent again. At least a look's. 0: it keeps all."},
                 context, 0.0, seconds ? 120.0 : 20000.0, format, initial.context ? initial.context->value : 0, note,
                 kLog)) {
    const ContextLength length{seconds ? context : std::round(context), seconds};
    set_context(shape, context > 0 ? std::optional(length) : std::nullopt);
    changed_ = true;
  }
  changed_ |=
      number_row({"eye", "eye",
                  "How much the acuity around the fixation weighs in what is sent. 0: fixations say when a look "
                  "happens, and no more."},
                 shape.eye, 0.0, 1.0, "%.2f", initial.eye, note);
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
  if (lattice_kind(config.lattice) == LatticeKind::kAdaptive) return;  // resolution doesn't follow from eccentricity
  acuity_rows(config, facts, note);
  curve_.draw(config, facts);
}

}  // namespace saccade::ui
