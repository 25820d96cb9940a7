#include "pipeline/gaze/lattice/lattice.h"

#include <fmt/format.h>

#include <cmath>

#include "pipeline/error.h"
#include "pipeline/gaze/lattice/lattice_kinds.h"

namespace saccade {
namespace {

constexpr int kMaxPatchSize = 256;

bool positive(double value) { return std::isfinite(value) && value > 0; }

void check_geometry(const FrameGeometry& geometry) {
  if (geometry.width_px < 1 || geometry.height_px < 1) {
    throw UsageError(fmt::format("a frame of {}x{} pixels has no lattice", geometry.width_px, geometry.height_px));
  }
  if (geometry.levels < 1)
    throw UsageError(OfOption("levels", fmt::to_string(geometry.levels)), "at least 1 is needed");
}

void check_patches(int patches, const char* name) {
  if (patches >= 1 && patches <= kMaxPatches) return;
  throw UsageError(OfOption(name, fmt::to_string(patches)), fmt::format("the range is 1 to {}", kMaxPatches));
}

}  // namespace

LatticeKind lattice_kind(const LatticeConfig& config) {
  if (std::holds_alternative<GridShape>(config.shape)) return LatticeKind::kGrid;
  if (std::holds_alternative<AdaptiveShape>(config.shape)) return LatticeKind::kAdaptive;
  return std::holds_alternative<UniformShape>(config.shape) ? LatticeKind::kUniform : LatticeKind::kNested;
}

std::optional<Acuity> acuity_given(FoveaUnit unit, std::optional<double> e0, std::optional<double> m0) {
  if (!e0 && !m0) return std::nullopt;
  const double e = e0.value_or(Acuity{}.e0);
  return Acuity{.unit = unit, .e0 = e, .m0 = m0.value_or(e)};
}

ExplicitRings rings_given(std::span<const int> strides, std::span<const int> sides) {
  ExplicitRings given;
  for (std::size_t k = 0; k < strides.size(); ++k) given.rings.push_back({.stride = strides[k], .side = sides[k]});
  return given;
}

const Acuity* acuity_of(const LatticeConfig& config) {
  const std::optional<Acuity>* given = nullptr;
  if (const auto* acuity = std::get_if<Acuity>(&config.shape)) return acuity;
  if (const auto* grid = std::get_if<GridShape>(&config.shape)) given = &grid->acuity;
  if (const auto* uniform = std::get_if<UniformShape>(&config.shape)) given = &uniform->acuity;
  return given != nullptr && *given ? &**given : nullptr;
}

FoveaUnit fovea_unit(const LatticeConfig& config) {
  const Acuity* acuity = acuity_of(config);
  return acuity != nullptr ? acuity->unit : FoveaUnit::kDegrees;
}

std::optional<int> patches_asked(const LatticeConfig& config) {
  if (const auto* budget = std::get_if<PatchBudget>(&config.shape)) return budget->patches;
  if (const auto* budget = std::get_if<TokenBudget>(&config.shape)) return budget->tokens;
  if (const auto* grid = std::get_if<GridShape>(&config.shape)) return grid->patches;
  if (const auto* uniform = std::get_if<UniformShape>(&config.shape)) return uniform->patches;
  if (const auto* adaptive = std::get_if<AdaptiveShape>(&config.shape)) return adaptive->tokens;
  return std::nullopt;
}

shared::FoveaParams make_fovea_params(const Acuity& acuity, double fov_deg, const FrameGeometry& geometry) {
  check_geometry(geometry);
  if (!positive(acuity.m0)) throw UsageError(OfOption("m0", fmt::to_string(acuity.m0)), "must be above 0");
  if (!positive(acuity.e0)) throw UsageError(OfOption("e0", fmt::to_string(acuity.e0)), "must be above 0");
  if (!positive(fov_deg) || fov_deg > 180) {
    throw UsageError(OfOption("fov-deg", fmt::to_string(fov_deg)), "the range is above 0, up to 180");
  }
  const bool uv = acuity.unit == FoveaUnit::kUv;
  const double sar = positive(geometry.sar) ? geometry.sar : 1.0;
  const double per_px_x = (uv ? 1.0 : fov_deg) / geometry.width_px;
  const double per_px_y = uv ? 1.0 / geometry.height_px : fov_deg / (geometry.width_px * sar);
  shared::FoveaParams params{};
  params.e0 = static_cast<float>(acuity.e0);
  params.m0 = static_cast<float>(acuity.m0);
  params.unit_per_px_x = static_cast<float>(per_px_x);
  params.unit_per_px_y = static_cast<float>(per_px_y);
  params.max_lod = static_cast<float>(geometry.levels - 1);
  return params;
}

void refuse_patches(const LatticeConfig& config, std::int64_t count) {
  const std::string fault = fmt::format("the lattice would have {} patches, more than {}", count, kMaxPatches);
  if (std::holds_alternative<ExplicitRings>(config.shape)) {
    throw UsageError(OfOption("grid-sizes"), fault, Hint::kFewerPatches);
  }
  const Acuity* acuity = std::get_if<Acuity>(&config.shape);
  if (acuity == nullptr) throw UsageError(fault, Hint::kFewerPatches);
  if (acuity->unit == FoveaUnit::kUv) throw UsageError(OfOption("preset", "uv"), fault, Hint::kFewerPatches);
  throw UsageError(OfOption("e0", fmt::to_string(acuity->e0)), fault, Hint::kFewerPatches);
}

TileGrid tiles_of(const FrameGeometry& geometry) {
  return {(geometry.width_px + kTilePx - 1) / kTilePx, (geometry.height_px + kTilePx - 1) / kTilePx};
}

void check_lattice(const LatticeConfig& config) {
  if (config.patch_size < 2 || config.patch_size > kMaxPatchSize || config.patch_size % 2 != 0) {
    throw UsageError(OfOption("patch-size", fmt::to_string(config.patch_size)),
                     fmt::format("an even number from 2 to {} is needed", kMaxPatchSize));
  }
  const bool tokens =
      std::holds_alternative<TokenBudget>(config.shape) || std::holds_alternative<AdaptiveShape>(config.shape);
  if (const auto patches = patches_asked(config)) check_patches(*patches, tokens ? "tokens" : "patches");
}

std::unique_ptr<Lattice> make_lattice(const LatticeConfig& config, const FrameGeometry& geometry) {
  check_geometry(geometry);
  check_lattice(config);
  const LatticeKind kind = lattice_kind(config);
  std::unique_ptr<Lattice> lattice = kind == LatticeKind::kNested     ? make_nested_lattice(config, geometry)
                                     : kind == LatticeKind::kGrid     ? make_grid_lattice(config, geometry)
                                     : kind == LatticeKind::kAdaptive ? make_adaptive_lattice(config, geometry)
                                                                      : make_uniform_lattice(config, geometry);
  if (lattice->patch_count() > static_cast<std::size_t>(kMaxPatches)) {
    refuse_patches(config, static_cast<std::int64_t>(lattice->patch_count()));
  }
  return lattice;
}

}  // namespace saccade
