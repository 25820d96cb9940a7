#include "kernels/cuda/held_picture.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "gpu/cuda/error.h"
#include "kernels/cuda/launch/launch.h"
#include "kernels/cuda/state.h"

namespace saccade::cuda {
namespace {

// Of what becomes of tiles: the bits of HeldChanges::changed(), then its bytes.
std::size_t upload_bytes(const HeldChanges& changes) { return changes.changed().size_bytes() + changes.tiles().size(); }

}  // namespace

CudaHeldPicture::CudaHeldPicture(CudaState& texture, const ErrorMeasure& measure)
    : DeviceHeldPicture(texture.layout, measure), texture_(texture), memory_(std::move(texture.held_memory)) {
  if (memory_) return;
  const CudaDeviceGuard guard = texture_.make_current();
  const PlaneLayout& plane = texture_.layout.planes[0];
  memory_ = std::make_unique<HeldMemory>(
      texture_.stream.device(), static_cast<std::size_t>(plane.width) * static_cast<std::size_t>(plane.height),
      changes_.tiles().size(), upload_bytes(changes_), changes_.tiles().size() * static_cast<std::size_t>(levels_));
}

// Work that is queued may still use the memory. The next picture comes after it in the same stream.
CudaHeldPicture::~CudaHeldPicture() { texture_.held_memory = std::move(memory_); }

void CudaHeldPicture::queue() {
  if (!changes_.any()) return;
  const CudaDeviceGuard guard = texture_.make_current();
  const cudaStream_t stream = texture_.stream.get();
  const std::size_t bits_bytes = changes_.changed().size_bytes();
  std::uint8_t* const upload = memory_->uploads.next(upload_bytes(changes_));
  std::memcpy(upload, changes_.changed().data(), bits_bytes);
  std::memcpy(upload + bits_bytes, changes_.tiles().data(), changes_.tiles().size());
  memory_->uploads.send(memory_->changes.data(), upload_bytes(changes_), stream);
  const TextureParams& texture = texture_.levels.open();
  const bool rgb = texture_.layout.format == TextureFormat::kRgba8;
  const HeldParams params{.plane = texture.plane[0],
                          .chroma = texture.plane[rgb ? 0 : 1],
                          .tile_cols = texture.tile_cols,
                          .tile_count = texture.tile_cols * texture.tile_rows,
                          .levels = levels_,
                          .noise = static_cast<std::uint32_t>(std::clamp(measure_.noise, 0, 255)) * 0x01010101U,
                          .changes = memory_->changes.data() + bits_bytes,
                          .changed = memory_->changes.as<const std::uint32_t>(),
                          .held = memory_->held.data(),
                          .pitch = texture_.layout.planes[0].width,
                          .held_chroma = measure_.chroma ? memory_->held_chroma.as<std::uint16_t>() : nullptr,
                          .errors = memory_->errors.as<std::uint32_t>()};
  launch_held(texture_.layout.format, params, measure_.power, stream);
  memory_->measured.record(stream);
  changes_.clear();
}

TileErrors CudaHeldPicture::measure() {
  queue();
  memory_->measured.wait();
  return errors_in(memory_->errors.as<const std::uint32_t>());
}

}  // namespace saccade::cuda
