// saccade_stream_next_into(): emissions in the caller's memory.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>

#include "capi/stream/stream.h"
#include "capi/structs.h"
#include "kernels/device_texture.h"

using namespace saccade;
using namespace saccade::capi;

namespace {

constexpr const char* kFunction = "saccade_stream_next_into";

static_assert(static_cast<int>(SampleType::kU8) == SACCADE_U8 && static_cast<int>(SampleType::kF32) == SACCADE_F32);

SampleFormat format_of(const saccade_target& target) {
  require(target.dtype >= SACCADE_U8 && target.dtype <= SACCADE_F32, kFunction, "dtype is no saccade_dtype");
  SampleFormat format;
  format.type = static_cast<SampleType>(target.dtype);
  for (std::size_t c = 0; c < 3; ++c) {
    const float deviation = target.deviation[c] == 0 ? 1.0F : target.deviation[c];
    require(std::isfinite(target.mean[c]) && std::isfinite(deviation) && deviation > 0, kFunction,
            "mean is not finite, or deviation is not above 0");
    format.mean[c] = target.mean[c];
    format.inv_std[c] = 1.0F / deviation;
  }
  require(format.type != SampleType::kU8 || format == SampleFormat{}, kFunction,
          "u8 samples can't be normalized; ask for f16 or f32");
  return format;
}

void check_alignment(const void* pointer, std::size_t size_bytes, const char* what) {
  if (reinterpret_cast<std::uintptr_t>(pointer) % size_bytes == 0) return;
  refuse(kFunction, fmt::format("{} is not aligned to its type of {} bytes", what, size_bytes));
}

PatchTarget checked_target(const saccade_target& target, const Pipeline& pipeline) {
  require(target.patches != nullptr, kFunction, "patches is NULL");
  require(target.memory == SACCADE_HOST || target.memory == SACCADE_CUDA, kFunction, "memory is no saccade_memory");
  PatchTarget into;
  into.space = target.memory == SACCADE_CUDA ? MemorySpace::kCuda : MemorySpace::kHost;
  into.device = target.device;
  into.stream = target.cuda_stream != nullptr ? target.cuda_stream : kLegacyStream;
  into.format = format_of(target);
  into.patches = static_cast<std::byte*>(target.patches);
  into.geometry = target.geometry;
  into.changed = target.changed;
  into.damaged_tiles = target.damaged_tiles;
  const std::size_t needed =
      PatchBatch::bytes_of(pipeline.lattice().patch_count(), pipeline.config().lattice.patch_size, into.format);
  if (target.patches_bytes != needed) {
    refuse(kFunction, fmt::format("patches has {} bytes, the memory for it {}", needed, target.patches_bytes));
  }
  check_alignment(target.patches, size_bytes(into.format.type), "patches");
  check_alignment(target.geometry, sizeof(float), "geometry");
  check_alignment(target.damaged_tiles, sizeof(std::int32_t), "damaged_tiles");
  pipeline.check_target(into);
  return into;
}

}  // namespace

saccade_status saccade_stream_next_into(saccade_stream* stream, std::int64_t timeout_ms, const saccade_target* target,
                                        saccade_emission_view* out) {
  return change_stream(stream, kFunction, [&](saccade_stream& source) {
    const Pipeline& pipeline = source.session(kFunction).pipeline();
    const PatchTarget into = checked_target(read(kFunction, target), pipeline);
    if (out != nullptr) check_size<saccade_emission_view>(kFunction, out->struct_size, {kEarlierViewBytes});
    const saccade_status status = source.next_into(timeout_ms, into);
    if (status != SACCADE_OK || out == nullptr) return status;
    const Emission& emission = source.last().emission;
    saccade_emission_view view = view_of(emission);
    view.patches = into.patches;
    view.patches_bytes = target->patches_bytes;
    view.geometry = source.last().geometry.data();
    if (into.space == MemorySpace::kCuda) {
      view.changed = nullptr;
    } else {
      view.changed = into.changed != nullptr ? into.changed : emission.changed.data();
    }
    view.dtype = target->dtype;
    fill(kFunction, out, view, {kEarlierViewBytes});
    return SACCADE_OK;
  });
}
