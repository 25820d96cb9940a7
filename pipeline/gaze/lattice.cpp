#include "pipeline/gaze/lattice.h"

#include <fmt/format.h>

#include <cmath>

#include "pipeline/error.h"
#include "pipeline/gaze/lattice_kinds.h"

namespace saccade {
namespace {

constexpr int kMaxPatchSize = 256;
constexpr int kMaxPatches = 1 << 20;

bool positive(double value) { return std::isfinite(value) && value > 0; }

void check_geometry(const FrameGeometry& geometry) {
  if (geometry.width_px < 1 || geometry.height_px < 1) {
    throw UsageError(fmt::format("a frame of {}x{} pixels has no lattice", geometry.width_px, geometry.height_px));
  }
  if (geometry.levels < 1) throw UsageError(fmt::format("levels {}: at least 1 is needed", geometry.levels));
}

}  // namespace

shared::FoveaParams make_fovea_params(const FoveaConfig& config, const FrameGeometry& geometry) {
  check_geometry(geometry);
  if (config.m0 && !positive(*config.m0)) throw UsageError(fmt::format("m0 {}: must be above 0", *config.m0));
  if (config.e0 && !positive(*config.e0)) throw UsageError(fmt::format("e0 {}: must be above 0", *config.e0));
  if (!positive(config.fov_deg) || config.fov_deg > 180) {
    throw UsageError(fmt::format("fov-deg {}: the range is above 0, up to 180", config.fov_deg));
  }
  const bool uv = config.unit == FoveaUnit::kUv;
  const double e0 = config.e0.value_or(uv ? 0.5 : 2.3);
  const double sar = positive(geometry.sar) ? geometry.sar : 1.0;
  const double per_px_x = (uv ? 1.0 : config.fov_deg) / geometry.width_px;
  const double per_px_y = uv ? 1.0 / geometry.height_px : config.fov_deg / (geometry.width_px * sar);
  shared::FoveaParams params{};
  params.e0 = static_cast<float>(e0);
  params.m0 = static_cast<float>(config.m0.value_or(uv && !config.e0 ? 1.0 : e0));
  params.unit_per_px_x = static_cast<float>(per_px_x);
  params.unit_per_px_y = static_cast<float>(per_px_y);
  params.max_lod = static_cast<float>(geometry.levels - 1);
  return params;
}

std::unique_ptr<Lattice> make_lattice(const LatticeConfig& config, const FrameGeometry& geometry) {
  check_geometry(geometry);
  if (config.patch_size < 2 || config.patch_size > kMaxPatchSize || config.patch_size % 2 != 0) {
    throw UsageError(
        fmt::format("patch-size {}: an even number from 2 to {} is needed", config.patch_size, kMaxPatchSize));
  }
  if (config.patches < 1 || config.patches > kMaxPatches) {
    throw UsageError(fmt::format("patches {}: the range is 1 to {}", config.patches, kMaxPatches));
  }
  const bool nested = config.kind == LatticeKind::kNested;
  if (!nested && !(config.strides.empty() && config.grid_sizes.empty())) {
    throw UsageError("strides and grid-sizes belong to the nested lattice; leave them out, or choose it");
  }
  if (config.kind != LatticeKind::kUniform && config.uniform_lod >= 0) {
    throw UsageError("lod belongs to the uniform lattice; leave it out, or choose it");
  }
  std::unique_ptr<Lattice> lattice = nested                              ? make_nested_lattice(config, geometry)
                                     : config.kind == LatticeKind::kGrid ? make_grid_lattice(config, geometry)
                                                                         : make_uniform_lattice(config, geometry);
  if (lattice->patch_count() > static_cast<std::size_t>(kMaxPatches)) {
    throw UsageError(fmt::format("the lattice has {} patches, more than {}", lattice->patch_count(), kMaxPatches),
                     Hint::kFewerPatches);
  }
  return lattice;
}

}  // namespace saccade
