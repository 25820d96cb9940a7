#include "kernels/gl/sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

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

std::int64_t gpu_bytes(std::size_t count, int patch_size, SampleType type) {
  return static_cast<std::int64_t>(count * 3 * padded_samples(patch_size) * size_bytes(type));
}

}  // namespace

void require_same_shape(const PatchBatch& batch, std::size_t count, int patch_size, const SampleFormat& format) {
  if (batch.count() == count && batch.patch_size() == patch_size && batch.format() == format) return;
  throw std::invalid_argument(
      fmt::format("a batch of {} patches of {}x{} cannot take {} of {}x{}, or the formats differ", batch.count(),
                  batch.patch_size(), batch.patch_size(), count, patch_size, patch_size));
}

GlSampler::GlSampler(const gl::Capabilities& capabilities, std::span<const GlPlane> planes)
    : persistent_(capabilities.persistent_mapping), planes_(planes) {
  for (std::size_t type = 0; type < programs_.size(); ++type) {
    programs_[type] = make_compute_program(
        "gl_sample", fmt::format("#define YUV {}\n#define SAMPLE_TYPE {}\n", planes.size() > 1 ? 1 : 0, type));
  }
}

void GlSampler::reserve(Slot& slot, std::int64_t plan_bytes, std::int64_t samples_bytes) const {
  if (slot.plan_bytes < plan_bytes) {
    slot.plan = gl::Buffer(plan_bytes, GL_DYNAMIC_STORAGE_BIT);
    slot.plan_bytes = plan_bytes;
  }
  if (slot.samples_bytes >= samples_bytes) return;
  constexpr GLbitfield kRead = GL_MAP_READ_BIT | GL_MAP_PERSISTENT_BIT | GL_MAP_COHERENT_BIT;
  slot.samples = gl::Buffer(samples_bytes, persistent_ ? kRead | GL_CLIENT_STORAGE_BIT : GL_CLIENT_STORAGE_BIT);
  slot.samples_bytes = samples_bytes;
  slot.mapped = nullptr;
  if (!persistent_) return;
  slot.mapped = static_cast<const std::byte*>(
      glMapNamedBufferRange(slot.samples.name(), 0, static_cast<GLsizeiptr>(samples_bytes), kRead));
  gl::check("glMapNamedBufferRange");
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

bool GlSampler::submit(const PatchPlan& plan, const ColorSpec& color, const SampleFormat& format) {
  if (pending() == kSlots) return false;
  Slot& slot = slots_[static_cast<std::size_t>(submitted_ % kSlots)];
  slot.count = plan.count();
  slot.patch_size = plan.patch_size;
  slot.format = format;
  if (plan.patches.empty()) {
    ++submitted_;
    return true;
  }

  gl::forget_errors();
  fill_plan(plan, color, format);
  const auto plan_bytes = static_cast<std::int64_t>(staging_.size());
  const std::int64_t samples_bytes = gpu_bytes(slot.count, slot.patch_size, format.type);
  reserve(slot, plan_bytes, samples_bytes);
  glNamedBufferSubData(slot.plan.name(), 0, static_cast<GLsizeiptr>(plan_bytes), staging_.data());
  for (std::size_t p = 0; p < planes_.size(); ++p) {
    glBindTextureUnit(static_cast<GLuint>(p), planes_[p].codes.name());
  }
  glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, slot.plan.name());
  glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 1, slot.samples.name());
  programs_[static_cast<std::size_t>(format.type)].use();
  const auto threads = static_cast<std::uint32_t>(slot.count * padded_samples(slot.patch_size) / 4);
  const std::uint32_t groups = (threads + kThreadsPerGroup - 1) / kThreadsPerGroup;
  constexpr std::uint32_t kMostGroups = 65535;
  const std::uint32_t columns = std::min(groups, kMostGroups);
  glDispatchCompute(columns, (groups + columns - 1) / columns, 1);
  glMemoryBarrier(persistent_ ? GL_CLIENT_MAPPED_BUFFER_BARRIER_BIT : GL_BUFFER_UPDATE_BARRIER_BIT);
  slot.done = gl::Sync::fence();
  gl::check("glDispatchCompute of samples");
  ++submitted_;
  return true;
}

bool GlSampler::ready() const {
  return pending() > 0 && slots_[static_cast<std::size_t>(collected_ % kSlots)].done.signaled();
}

// Drops each channel's padding on the way, where S * S is no multiple of 4.
void GlSampler::copy_out(const Slot& slot, PatchBatch& batch) {
  const std::byte* from = slot.mapped;
  if (from == nullptr) {
    const std::int64_t bytes = gpu_bytes(slot.count, slot.patch_size, slot.format.type);
    staging_.resize(static_cast<std::size_t>(bytes));
    glGetNamedBufferSubData(slot.samples.name(), 0, static_cast<GLsizeiptr>(bytes), staging_.data());
    from = staging_.data();
  }
  const std::span<std::byte> to = batch.bytes();
  const auto samples = static_cast<std::size_t>(slot.patch_size) * static_cast<std::size_t>(slot.patch_size);
  const std::size_t padded = padded_samples(slot.patch_size);
  const std::size_t sample_bytes = size_bytes(slot.format.type);
  if (samples == padded) {
    std::memcpy(to.data(), from, to.size());
    return;
  }
  for (std::size_t channel = 0; channel < slot.count * 3; ++channel) {
    std::memcpy(to.data() + channel * samples * sample_bytes, from + channel * padded * sample_bytes,
                samples * sample_bytes);
  }
}

bool GlSampler::collect(PatchBatch& batch, bool wait) {
  if (pending() == 0) return false;
  Slot& slot = slots_[static_cast<std::size_t>(collected_ % kSlots)];
  if (!wait && !slot.done.signaled()) return false;
  const gl::Sync done = std::exchange(slot.done, {});
  ++collected_;  // dropped, should it not come
  done.finish("sampling");
  require_same_shape(batch, slot.count, slot.patch_size, slot.format);
  if (slot.count > 0) copy_out(slot, batch);
  return true;
}

bool GlHostSamples::submit(const PatchPlan& plan, const ColorSpec& color, const SampleFormat& format) {
  if (pending() == GlSampler::kSlots) return false;
  PatchBatch& slot = slots_[static_cast<std::size_t>(submitted_ % GlSampler::kSlots)];
  if (slot.count() != plan.count() || slot.patch_size() != plan.patch_size || !(slot.format() == format)) {
    slot = PatchBatch(plan.count(), plan.patch_size, format);
  }
  pyramid_.sample(plan, color, slot);
  ++submitted_;
  return true;
}

bool GlHostSamples::collect(PatchBatch& batch) {
  if (pending() == 0) return false;
  const PatchBatch& slot = slots_[static_cast<std::size_t>(collected_++ % GlSampler::kSlots)];
  require_same_shape(batch, slot.count(), slot.patch_size(), slot.format());
  std::ranges::copy(slot.bytes(), batch.bytes().begin());
  return true;
}

}  // namespace saccade
