#include "kernels/gl/sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/gl/shaders.h"
#include "kernels/shared/fovea.h"

namespace saccade {
namespace {

constexpr std::uint32_t kThreadsPerGroup = 64;

// As in gl_sample.comp, std430.
struct SampleParams {
  shared::ColorParams color;
  float site_shift_x, site_shift_y;
  std::uint32_t patch_size, patch_count;
  std::array<float, 4> mean, inv_std;
};
static_assert(sizeof(SampleParams) == 80 && offsetof(SampleParams, mean) == 48);

struct GpuPatch {
  float x_px, y_px, pitch_px, coverage;
  std::int32_t level;
  float level_fraction;
  std::int32_t chroma_level;
  float chroma_level_fraction;
};
static_assert(sizeof(GpuPatch) == 32);

// Powers and levels are taken here, where exp2 of a whole number is exact.
GpuPatch gpu_patch(const Patch& patch) {
  const float chroma = shared::chroma_lod(patch.lod);
  return {patch.x_px,
          patch.y_px,
          std::exp2(patch.lod),
          patch.coverage,
          static_cast<std::int32_t>(patch.lod),
          patch.lod - std::floor(patch.lod),
          static_cast<std::int32_t>(chroma),
          chroma - std::floor(chroma)};
}

std::size_t padded_samples(int patch_size) {
  const auto samples = static_cast<std::size_t>(patch_size) * static_cast<std::size_t>(patch_size);
  return (samples + 3) / 4 * 4;
}

std::int64_t gpu_bytes(const PatchBatch& batch) {
  return static_cast<std::int64_t>(batch.count() * 3 * padded_samples(batch.patch_size()) *
                                   size_bytes(batch.format().type));
}

}  // namespace

GlSampler::GlSampler(const gl::Capabilities& capabilities, std::span<const GlPlane> planes)
    : persistent_(capabilities.persistent_mapping), planes_(planes) {
  for (std::size_t type = 0; type < programs_.size(); ++type) {
    programs_[type] = make_compute_program(
        "gl_sample", fmt::format("#define YUV {}\n#define SAMPLE_TYPE {}\n", planes.size() > 1 ? 1 : 0, type));
  }
}

void GlSampler::reserve(std::int64_t plan_bytes, std::int64_t samples_bytes) {
  if (plan_bytes_ < plan_bytes) {
    plan_ = gl::Buffer(plan_bytes, GL_DYNAMIC_STORAGE_BIT);
    plan_bytes_ = plan_bytes;
  }
  if (samples_.size_bytes() < samples_bytes) samples_ = gl::Readback(persistent_, samples_bytes);
}

void GlSampler::fill_plan(const PatchPlan& plan, const ColorSpec& color, const SampleFormat& format) {
  const int storage_bits = planes_[0].layout.bytes_per_channel * 8;
  SampleParams params{};
  params.color = make_color_params(color, static_cast<float>((1 << storage_bits) - 1));
  params.site_shift_x = color.site_shift_x;
  params.site_shift_y = color.site_shift_y;
  params.patch_size = static_cast<std::uint32_t>(plan.patch_size);
  params.patch_count = static_cast<std::uint32_t>(plan.count());
  for (std::size_t c = 0; c < 3; ++c) {
    params.mean[c] = format.mean[c];
    params.inv_std[c] = format.inv_std[c];
  }
  staging_.resize(sizeof(SampleParams) + plan.count() * sizeof(GpuPatch));
  std::memcpy(staging_.data(), &params, sizeof(params));
  std::byte* out = staging_.data() + sizeof(params);
  for (const Patch& patch : plan.patches) {
    const GpuPatch gpu = gpu_patch(patch);
    std::memcpy(out, &gpu, sizeof(gpu));
    out += sizeof(gpu);
  }
}

void GlSampler::sample(const PatchPlan& plan, const ColorSpec& color, PatchBatch& batch, gl::Timer& timer) {
  check_same_shape(plan, batch);
  if (plan.patches.empty()) return;
  const SampleFormat& format = batch.format();
  gl::forget_errors();
  timer.begin();
  fill_plan(plan, color, format);
  const auto plan_bytes = static_cast<std::int64_t>(staging_.size());
  reserve(plan_bytes, gpu_bytes(batch));
  glNamedBufferSubData(plan_.name(), 0, static_cast<GLsizeiptr>(plan_bytes), staging_.data());
  for (std::size_t p = 0; p < planes_.size(); ++p) {
    glBindTextureUnit(static_cast<GLuint>(p), planes_[p].codes.name());
  }
  glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, plan_.name());
  glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 1, samples_.buffer());
  programs_[static_cast<std::size_t>(format.type)].use();
  const auto threads = static_cast<std::uint32_t>(plan.count() * padded_samples(plan.patch_size) / 4);
  dispatch_compute(threads, kThreadsPerGroup);
  samples_.barrier();
  const gl::Sync done = gl::Sync::fence();
  timer.end();
  gl::check("glDispatchCompute of samples");
  done.finish("sampling");
  copy_out(batch);
}

// Drops each channel's padding on the way, where S * S is no multiple of 4.
void GlSampler::copy_out(PatchBatch& batch) {
  const std::byte* const from = samples_.read(gpu_bytes(batch));
  const std::span<std::byte> to = batch.bytes();
  const std::size_t padded_bytes = padded_samples(batch.patch_size()) * size_bytes(batch.format().type);
  const std::size_t channels = batch.count() * 3;
  const std::size_t channel_bytes = to.size() / channels;
  for (std::size_t channel = 0; channel < channels; ++channel) {
    std::memcpy(to.data() + channel * channel_bytes, from + channel * padded_bytes, channel_bytes);
  }
}

}  // namespace saccade
