// The panel's right half: sliders and boxes for everything a person can tune.
#pragma once

#include <array>
#include <string>

#include "ui/panel/lod_curve.h"
#include "ui/panel/overlay_text.h"
#include "ui/picture/view_state.h"
#include "ui/tuning/settings_edits.h"
#include "ui/tuning/working_range.h"

namespace saccade::ui {

// Draws into the window that is begun. Edits keep to combinations that the pipeline and a settings file accept.
class SettingsPanel {
 public:
  explicit SettingsPanel(const ViewSettings& initial) : initial_(initial), adaptive_(adaptive_of(initial.pipeline)) {}

  void draw(ViewSettings& settings, const ViewFacts& facts, ViewRequests& requests, const Note& note);

 private:
  void view_row(ViewSettings& settings, const ViewFacts& facts, const Note& note) const;
  void view_rows(ViewSettings& settings, const ViewFacts& facts, const Note& note) const;
  void box_rows(ViewSettings& settings, const Note& note) const;
  void boxes(ViewSettings& settings, const ViewFacts& facts, const Note& note) const;
  void texture_rows(PipelineConfig& config, const ViewFacts& facts, const Note& note);
  void acuity_rows(PipelineConfig& config, const ViewFacts& facts, const Note& note);
  void fovea_rows(PipelineConfig& config, const ViewFacts& facts, const Note& note);
  void lattice_rows(PipelineConfig& config, const ViewFacts& facts, const Note& note);
  void budget_row(PipelineConfig& config, const ViewFacts& facts, const Note& note);
  void adaptive_rows(AdaptiveShape& shape, const Note& note);
  void uniform_row(PipelineConfig& config, const ViewFacts& facts, const Note& note);
  void argument_row(ScanpathConfig& scanpath, PipelineConfig& config, const Note& note);
  void scanpath_rows(PipelineConfig& config, const Note& note);
  static void recorded_rows(const ViewFacts& facts);
  void ask_to_replace(const std::string& path, ViewRequests& requests, const Note& note);
  void buttons(ViewSettings& settings, ViewRequests& requests, const Note& note);

  ViewSettings initial_;
  LodCurve curve_;
  WorkingRanges ranges_;
  std::array<char, 256> save_path_{"saccade.toml"};
  int patches_ = kDefaultTokens;  // N as it was last asked for
  AdaptiveShape adaptive_;        // as it was last tuned
  bool asks_path_ = false;        // policy `file` was chosen and waits for its path
  bool changed_ = false;          // in this draw()
};

}  // namespace saccade::ui
