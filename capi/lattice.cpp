// Lattices for those who sample tensors: where to look, without a stream.
#include <saccade/tensor.h>

#include <memory>

#include "capi/call.h"
#include "capi/error.h"
#include "capi/structs.h"
#include "pipeline/gaze/lattice.h"

// Host memory alone: it serves a child of fork(), too.
struct saccade_lattice {
  const saccade::capi::HandleMark counted{saccade::capi::handle_counts().lattices};
  std::unique_ptr<saccade::Lattice> lattice;
  saccade::FrameGeometry frame;
};

namespace saccade::capi {
namespace {

ExplicitRings rings_of(const char* function, const saccade_lattice_settings& settings) {
  require(settings.strides != nullptr && settings.sides != nullptr, function, "strides or sides is NULL");
  require(settings.kind == SACCADE_LATTICE_NESTED, function, "only the nested lattice has rings");
  require(settings.patches == 0 && settings.e0 == 0 && settings.m0 == 0, function,
          "rings are given, so patches, e0 and m0 must not be");
  const auto count = static_cast<std::size_t>(settings.ring_count);
  return rings_given({settings.strides, count}, {settings.sides, count});
}

std::optional<double> not_zero(double value) { return value != 0 ? std::optional(value) : std::nullopt; }

LatticeConfig config_of(const char* function, const saccade_lattice_settings& settings) {
  LatticeConfig config{.patch_size = settings.patch_size, .fov_deg = settings.fov_deg, .shape = {}};
  const FoveaUnit unit = settings.uv != 0 ? FoveaUnit::kUv : FoveaUnit::kDegrees;
  const std::optional<Acuity> acuity = acuity_given(unit, not_zero(settings.e0), not_zero(settings.m0));
  const int patches = settings.patches != 0 ? settings.patches : kDefaultPatches;
  require(settings.kind == SACCADE_LATTICE_UNIFORM || !(settings.lod >= 0), function,
          "only the uniform lattice has a lod");
  if (settings.ring_count > 0) {
    config.shape = rings_of(function, settings);
  } else if (settings.kind == SACCADE_LATTICE_GRID) {
    config.shape = GridShape{.patches = patches, .acuity = acuity};
  } else if (settings.kind == SACCADE_LATTICE_UNIFORM) {
    const std::optional<double> lod = settings.lod >= 0 ? std::optional(settings.lod) : std::nullopt;
    config.shape = UniformShape{.patches = patches, .lod = lod, .acuity = acuity};
  } else if (acuity) {
    require(settings.patches == 0, function, "the nested lattice follows e0 and m0, or solves them from patches");
    config.shape = *acuity;
  } else {
    config.shape = PatchBudget{.patches = patches, .m0 = {}};
  }
  return config;
}

}  // namespace
}  // namespace saccade::capi

using namespace saccade::capi;

saccade_status saccade_lattice_new(const saccade_lattice_settings* settings, saccade_lattice** out) {
  constexpr const char* kFunction = "saccade_lattice_new";
  return guarded([&] {
    require(out != nullptr, kFunction, "out is NULL");
    *out = nullptr;
    const saccade_lattice_settings asked = read(kFunction, settings);
    require(asked.kind >= SACCADE_LATTICE_NESTED && asked.kind <= SACCADE_LATTICE_UNIFORM, kFunction,
            "there is no such kind");
    auto made = std::make_unique<saccade_lattice>();
    made->frame = {asked.width_px, asked.height_px, asked.sar, asked.levels};
    made->lattice = saccade::make_lattice(config_of(kFunction, asked), made->frame);
    *out = made.release();
    return SACCADE_OK;
  });
}

void saccade_lattice_free(saccade_lattice* lattice) { delete lattice; }

saccade_status saccade_lattice_get_info(const saccade_lattice* lattice, saccade_lattice_info* out) {
  constexpr const char* kFunction = "saccade_lattice_get_info";
  return guarded([&] {
    require(lattice != nullptr, kFunction, "lattice is NULL");
    const saccade::shared::FoveaParams& fovea = lattice->lattice->fovea();
    saccade_lattice_info info{};
    info.e0 = fovea.e0;
    info.m0 = fovea.m0;
    info.unit_per_px_x = fovea.unit_per_px_x;
    info.unit_per_px_y = fovea.unit_per_px_y;
    info.patch_count = static_cast<std::int32_t>(lattice->lattice->patch_count());
    info.snap_px = lattice->lattice->snap_px();
    fill(kFunction, out, info);
    return SACCADE_OK;
  });
}

saccade_status saccade_lattice_plan(const saccade_lattice* lattice, const float* fixations, std::size_t count,
                                    std::int32_t in_pixels, float* geometry) {
  constexpr const char* kFunction = "saccade_lattice_plan";
  return guarded([&] {
    require(lattice != nullptr, kFunction, "lattice is NULL");
    require(count == 0 || (fixations != nullptr && geometry != nullptr), kFunction, "fixations or geometry is NULL");
    const int width = in_pixels != 0 ? 1 : lattice->frame.width_px;  // what a centre is divided by
    const int height = in_pixels != 0 ? 1 : lattice->frame.height_px;
    saccade::PatchPlan plan;
    for (std::size_t k = 0; k < count; ++k) {
      lattice->lattice->plan(fixations[2 * k], fixations[2 * k + 1], plan);
      const std::size_t numbers = plan.count() * 4;
      saccade::write_geometry(plan, width, height, {geometry + k * numbers, numbers});
    }
    return SACCADE_OK;
  });
}
