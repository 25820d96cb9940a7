// Lattices turn a fixation into a patch plan.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/patch_plan.h"
#include "kernels/shared/fovea.h"

namespace saccade {

enum class LatticeKind : std::uint8_t { kNested, kGrid, kUniform };
enum class FoveaUnit : std::uint8_t { kDegrees, kUv };

struct FoveaConfig {
  FoveaUnit unit = FoveaUnit::kDegrees;
  std::optional<double> m0;  // default: equal to e0 (uv without e0: 1)
  std::optional<double> e0;  // default: 2.3 deg (uv: 0.5); nested without e0: solved from the patch budget
  double fov_deg = 40.0;     // horizontal, over the displayed width
  bool operator==(const FoveaConfig&) const = default;
};

struct LatticeConfig {
  LatticeKind kind = LatticeKind::kNested;
  int patch_size = 16;         // S, even
  int patches = 273;           // nested: a budget, not exceeded; grid and uniform: N
  bool patches_given = false;  // nested: with e0 given as well, the two contradict each other
  FoveaConfig fovea;
  std::vector<int> strides;     // nested, explicit form: powers of two, rising; empty: solved
  std::vector<int> grid_sizes;  // patches along a side of each level's square, holes included
  double uniform_lod = -1;      // uniform: one lod for all; < 0: the one whose N patches just cover the frame
  bool operator==(const LatticeConfig&) const = default;
};

struct FrameGeometry {
  int width_px = 0;
  int height_px = 0;
  double sar = 1.0;
  int levels = 7;
  bool operator==(const FrameGeometry&) const = default;
};

// Constructed for a frame geometry; plan() is then called per emission and allocates nothing once the plan has room.
// Construction throws UsageError, naming the option at fault.
class Lattice {
 public:
  virtual ~Lattice() = default;
  virtual std::size_t patch_count() const = 0;           // N, constant
  virtual const shared::FoveaParams& fovea() const = 0;  // with the solved e0, if it was solved
  virtual void plan(float fix_u, float fix_v, PatchPlan& out) const = 0;
  virtual std::string describe() const = 0;  // one line for logs and `info`
};

std::unique_ptr<Lattice> make_lattice(const LatticeConfig& config, const FrameGeometry& geometry);
shared::FoveaParams make_fovea_params(const FoveaConfig& config, const FrameGeometry& geometry);

}  // namespace saccade
