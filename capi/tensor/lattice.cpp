// Lattices for those who sample tensors: where to look, without a stream.
#include <saccade/tensor.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>

#include "capi/call.h"
#include "capi/error.h"
#include "capi/structs.h"
#include "pipeline/gaze/lattice/lattice.h"
#include "pipeline/options/lattice_options.h"
#include "pipeline/options/normalizations.h"

// Host memory alone: it serves a child of fork(), too.
struct saccade_lattice {
  const saccade::capi::HandleMark counted{saccade::capi::handle_counts().lattices};
  std::unique_ptr<saccade::Lattice> lattice;
  saccade::FrameGeometry frame;
};

namespace saccade::capi {
namespace {

constexpr std::size_t kSettingsBeforeTokens = offsetof(saccade_lattice_settings, fovea);
constexpr std::size_t kInfoBeforePattern = offsetof(saccade_lattice_info, pattern_count);

template <typename Number>
std::optional<Number> not_zero(Number value) {
  return value != 0 ? std::optional(value) : std::nullopt;
}

LatticeOptions options_of(const char* function, const saccade_lattice_settings& settings) {
  require(settings.kind >= SACCADE_LATTICE_NESTED && settings.kind <= SACCADE_LATTICE_UNIFORM, function,
          "there is no such kind");
  LatticeOptions options;
  options.kind = static_cast<LatticeKind>(settings.kind);
  options.patch_size = settings.patch_size;
  options.fov_deg = settings.fov_deg;
  options.tokens = not_zero(settings.tokens);
  if (settings.fovea != 0) options.fovea = FoveaWidth{.value = settings.fovea, .degrees = settings.fovea_deg != 0};
  options.e0 = not_zero(settings.e0);
  options.m0 = not_zero(settings.m0);
  options.unit = settings.uv != 0 ? FoveaUnit::kUv : FoveaUnit::kDegrees;
  if (settings.lod >= 0) options.lod = settings.lod;
  options.patches = not_zero(settings.patches);
  if (settings.ring_count <= 0) return options;
  require(settings.strides != nullptr && settings.sides != nullptr, function, "strides or sides is NULL");
  options.strides.assign(settings.strides, settings.strides + settings.ring_count);
  options.grid_sizes.assign(settings.sides, settings.sides + settings.ring_count);
  return options;
}

}  // namespace
}  // namespace saccade::capi

using namespace saccade::capi;

saccade_status saccade_lattice_new(const saccade_lattice_settings* settings, saccade_lattice** out) {
  constexpr const char* kFunction = "saccade_lattice_new";
  return guarded([&] {
    require(out != nullptr, kFunction, "out is NULL");
    *out = nullptr;
    const saccade_lattice_settings asked = read(kFunction, settings, {kSettingsBeforeTokens});
    const saccade::LatticeConfig config = saccade::lattice_of(options_of(kFunction, asked));
    saccade::check_lattice(config);
    if (asked.width_px == 0 && asked.height_px == 0) return SACCADE_OK;
    auto made = std::make_unique<saccade_lattice>();
    made->frame = {asked.width_px, asked.height_px, asked.sar, asked.levels};
    made->lattice = saccade::make_lattice(config, made->frame);
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
    info.pattern_count = static_cast<std::int32_t>(lattice->lattice->pattern().size());
    fill(kFunction, out, info, {kInfoBeforePattern});
    return SACCADE_OK;
  });
}

saccade_status saccade_lattice_get_pattern(const saccade_lattice* lattice, float* pattern) {
  constexpr const char* kFunction = "saccade_lattice_get_pattern";
  return guarded([&] {
    require(lattice != nullptr && pattern != nullptr, kFunction, "lattice or pattern is NULL");
    for (const saccade::Patch& patch : lattice->lattice->pattern()) {
      for (const float number : {patch.x_px, patch.y_px, patch.lod}) *pattern++ = number;
    }
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

saccade_status saccade_fovea_preset_describe(std::size_t index, saccade_fovea_preset* out) {
  constexpr const char* kFunction = "saccade_fovea_preset_describe";
  return guarded([&] {
    if (index >= saccade::kFoveaPresets.size()) return SACCADE_END;
    const auto& [name, acuity] = saccade::kFoveaPresets[index];
    const std::int32_t uv = acuity.unit == saccade::FoveaUnit::kUv ? 1 : 0;
    fill(kFunction, out, {.struct_size = 0, .name = name, .e0 = acuity.e0, .m0 = acuity.m0, .uv = uv, .pad0 = 0});
    return SACCADE_OK;
  });
}

saccade_status saccade_normalization_describe(std::size_t index, saccade_normalization* out) {
  constexpr const char* kFunction = "saccade_normalization_describe";
  return guarded([&] {
    if (index >= std::size(saccade::kNormalizations)) return SACCADE_END;
    const saccade::Normalization& set = saccade::kNormalizations[index];
    saccade_normalization found{};
    found.name = set.name;
    std::copy(set.mean.begin(), set.mean.end(), found.mean);
    std::copy(set.deviation.begin(), set.deviation.end(), found.deviation);
    fill(kFunction, out, found);
    return SACCADE_OK;
  });
}
