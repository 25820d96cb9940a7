// Lattices turn a fixation into a patch plan.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "kernels/enum_names.h"
#include "kernels/patch_plan.h"
#include "kernels/pyramid_layout.h"
#include "kernels/shared/fovea.h"

namespace saccade {

enum class LatticeKind : std::uint8_t { kNested, kGrid, kUniform, kAdaptive };
inline constexpr EnumName<LatticeKind> kLatticeKinds[] = {{LatticeKind::kNested, "nested"},
                                                          {LatticeKind::kGrid, "grid"},
                                                          {LatticeKind::kUniform, "uniform"},
                                                          {LatticeKind::kAdaptive, "adaptive"}};
constexpr std::span<const EnumName<LatticeKind>> names_of(LatticeKind) { return kLatticeKinds; }

enum class FoveaUnit : std::uint8_t { kDegrees, kUv };
inline constexpr EnumName<FoveaUnit> kFoveaUnits[] = {{FoveaUnit::kDegrees, "deg"}, {FoveaUnit::kUv, "uv"}};
constexpr std::span<const EnumName<FoveaUnit>> names_of(FoveaUnit) { return kFoveaUnits; }

inline constexpr int kDefaultTokens = 273;
inline constexpr double kDefaultFovDeg = 40.0;

// How resolution falls with eccentricity e: lod = log2((e + e0) / m0), all three in `unit`.
struct Acuity {
  FoveaUnit unit = FoveaUnit::kDegrees;
  double e0 = 2.3;
  double m0 = 2.3;
  bool operator==(const Acuity&) const = default;
};
// Of the numbers that are given: M0 is e0 without its own, and e0 is Acuity's. nullopt: neither is.
std::optional<Acuity> acuity_given(FoveaUnit unit, std::optional<double> e0, std::optional<double> m0);

// Nested, the rule before TokenBudget: e0 is solved so that as many patches as possible are used, never more, those
// outside the frame included. In degrees.
struct PatchBudget {
  int patches = kDefaultTokens;
  std::optional<double> m0;  // none: equal to the solved e0
  bool operator==(const PatchBudget&) const = default;
};

// The width of the square of full resolution, before it is rounded to patches.
struct FoveaWidth {
  double value = 0;
  bool degrees = false;  // else pixels
  bool operator==(const FoveaWidth&) const = default;
};

// Nested: at most so many patches inside the frame, wherever the eye looks. N is the most that any fixation has; where
// fewer lie inside, the plan ends with patches of coverage 0. See Note [Tokens].
struct TokenBudget {
  int tokens = kDefaultTokens;
  std::optional<FoveaWidth> fovea;  // none: as wide as the tokens allow
  bool operator==(const TokenBudget&) const = default;
};

// Nested: the rings one by one, from the inside.
struct ExplicitRing {
  int stride = 1;  // pixels a sample: a power of two, twice the one before
  int side = 4;    // patches along the side of the ring's square, its hole included
  bool operator==(const ExplicitRing&) const = default;
};
struct ExplicitRings {
  std::vector<ExplicitRing> rings;
  bool operator==(const ExplicitRings&) const = default;
};
ExplicitRings rings_given(std::span<const int> strides, std::span<const int> sides);  // of one length

// Evenly spread centres. N is the number asked for, or a little less.
struct GridShape {
  int patches = kDefaultTokens;
  std::optional<Acuity> acuity;  // none: Acuity{}
  bool operator==(const GridShape&) const = default;
};
struct UniformShape {
  std::optional<int> patches = kDefaultTokens;  // none: side by side from the top left, as many as cover the frame
  std::optional<double> lod;                    // none: the one whose patches just cover the frame
  std::optional<Acuity> acuity;                 // shapes nothing; it is recorded with the result
  bool operator==(const UniformShape&) const = default;
};

// How much a receiver keeps of what it was sent: the last tokens, or those of the last seconds.
struct ContextLength {
  double value = 0;
  bool seconds = false;  // else tokens
  bool operator==(const ContextLength&) const = default;
};

// Squares of 16 << l pixels that bring what the receiver holds nearest to the frame (pipeline/gaze/allocate/). N is the
// most of a look, and never more than the frame has tiles. Where fewer are worth sending, the plan ends with patches of
// coverage 0.
struct AdaptiveShape {
  int tokens = kDefaultTokens;
  std::optional<int> tokens_per_second = {};  // on average; looks that send less save up for later ones
  std::optional<double> target_psnr = {};     // dB of luma: a look sends no more than this takes
  std::optional<ContextLength> context = {};  // none: the receiver keeps all
  double eye = 0;                             // how much acuity around the fixation weighs, 0 to 1
  bool operator==(const AdaptiveShape&) const = default;
};

struct LatticeConfig {
  int patch_size = 16;              // S, even
  double fov_deg = kDefaultFovDeg;  // horizontal, over the displayed width
  // Grid, uniform and adaptive are lattices of their own; the others are nested: from a budget, an acuity, or rings.
  std::variant<TokenBudget, PatchBudget, Acuity, ExplicitRings, GridShape, UniformShape, AdaptiveShape> shape;
  bool operator==(const LatticeConfig&) const = default;
};

LatticeKind lattice_kind(const LatticeConfig& config);
// Null: solved from the budget, fitted to explicit rings, or left at its default.
const Acuity* acuity_of(const LatticeConfig& config);
FoveaUnit fovea_unit(const LatticeConfig& config);
// N as asked for; nullopt: it follows from an acuity or from explicit rings.
std::optional<int> patches_asked(const LatticeConfig& config);

struct FrameGeometry {
  int width_px = 0;
  int height_px = 0;
  double sar = 1.0;
  int levels = 7;
  bool operator==(const FrameGeometry&) const = default;
};
// The tiles that cover the displayed frame.
TileGrid tiles_of(const FrameGeometry& geometry);

// Constructed for a frame geometry; plan() is then called per emission and allocates nothing once the plan has room.
// Construction throws UsageError, naming the option at fault.
class Lattice {
 public:
  virtual ~Lattice() = default;
  virtual std::size_t patch_count() const = 0;           // N, constant
  virtual const shared::FoveaParams& fovea() const = 0;  // with the solved e0, if it was solved
  virtual void plan(float fix_u, float fix_v, PatchPlan& out) const = 0;
  // Every luma sample is a texel of its level, whatever the fixation: nothing is mixed of several.
  virtual bool samples_texels() const { return false; }
  virtual std::string describe() const = 0;  // one line for logs and `info`
  // Level-0 pixels: patches lie at constant distances from the fixation, rounded to a multiple of it. 0: no such plan.
  virtual int snap_px() const { return 0; }
  // With a snap_px: all patches relative to the rounded fixation. A plan has those that meet the frame, in this order,
  // and is padded to N, or all of them where they are N.
  virtual std::span<const Patch> pattern() const { return {}; }
};

std::unique_ptr<Lattice> make_lattice(const LatticeConfig& config, const FrameGeometry& geometry);
// What make_lattice() refuses for any frame. Throws UsageError.
void check_lattice(const LatticeConfig& config);
shared::FoveaParams make_fovea_params(const Acuity& acuity, double fov_deg, const FrameGeometry& geometry);

}  // namespace saccade
