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
  ExplicitRings rings;
  for (std::int32_t k = 0; k < settings.ring_count; ++k) {
    rings.rings.push_back({.stride = settings.strides[k], .side = settings.sides[k]});
  }
  return rings;
}

std::optional<Acuity> acuity_given(const saccade_lattice_settings& settings) {
  if (settings.e0 == 0 && settings.m0 == 0) return std::nullopt;
  const FoveaUnit unit = settings.uv != 0 ? FoveaUnit::kUv : FoveaUnit::kDegrees;
  const double e0 = settings.e0 != 0 ? settings.e0 : Acuity{}.e0;
  return Acuity{.unit = unit, .e0 = e0, .m0 = settings.m0 != 0 ? settings.m0 : e0};
}

LatticeConfig config_of(const char* function, const saccade_lattice_settings& settings) {
  LatticeConfig config{.patch_size = settings.patch_size, .fov_deg = settings.fov_deg, .shape = {}};
  const std::optional<Acuity> acuity = acuity_given(settings);
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

void write_geometry(const PatchPlan& plan, float width, float height, float* at) {
  for (const Patch& patch : plan.patches) {
    *at++ = patch.x_px / width;
    *at++ = patch.y_px / height;
    *at++ = patch.lod;
    *at++ = patch.coverage;
  }
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
    const float width = in_pixels != 0 ? 1.0f : static_cast<float>(lattice->frame.width_px);
    const float height = in_pixels != 0 ? 1.0f : static_cast<float>(lattice->frame.height_px);
    saccade::PatchPlan plan;
    for (std::size_t k = 0; k < count; ++k) {
      lattice->lattice->plan(fixations[2 * k], fixations[2 * k + 1], plan);
      write_geometry(plan, width, height, geometry + k * plan.count() * 4);
    }
    return SACCADE_OK;
  });
}
