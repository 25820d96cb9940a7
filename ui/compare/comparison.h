// The frame that is shown through another lattice with as many patches, for view `compare`.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "pipeline/gaze/lattice/lattice.h"
#include "pipeline/run/session.h"
#include "ui/picture/patch_painter.h"

namespace saccade::ui {

// What the other lattice has to match.
struct Compared {
  LatticeKind kind = LatticeKind::kUniform;  // of the other one
  int patches = 0;                           // at most
  int patch_size = 16;
  double fov_deg = kDefaultFovDeg;
  Acuity acuity;  // of the first, for a grid
  FrameGeometry geometry;
  bool operator==(const Compared&) const = default;
};

// One thread, the GL context's.
class Comparison {
 public:
  // Samples the session's texture as it is. Where there is no such lattice nothing is painted, and words() say why.
  void update(Session& session, const Compared& compared, const ColorSpec& color, const Gaze& gaze);
  const PatchPainter* painter() const { return lattice_ ? &painter_ : nullptr; }
  const PatchPlan* plan() const { return lattice_ ? &plan_ : nullptr; }
  const std::string& words() const { return words_; }  // "one resolution: 216 patches"

 private:
  void make_lattice_of(const Compared& compared);

  std::optional<Compared> compared_;
  std::unique_ptr<Lattice> lattice_;
  PatchPlan plan_;
  PatchBatch batch_;
  PatchPainter painter_;
  std::string words_;
};

}  // namespace saccade::ui
