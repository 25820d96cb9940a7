#include "kernels/cuda/differ.h"

#include <algorithm>

#include "gpu/cuda/error.h"

namespace saccade::cuda {
namespace {

DiffParams diff_params(const DiffConfig& config, bool wide, bool everything) {
  const auto in_samples = [wide](int code) {
    const int clamped = std::clamp(code, 0, 256);  // 256: no difference is larger
    return static_cast<std::uint32_t>(wide ? std::min(clamped * 256, 65535) : std::min(clamped, 255));
  };
  return {in_samples(config.threshold), static_cast<std::uint32_t>(std::max(config.min_samples, 0)),
          in_samples(config.noise_floor), everything ? 1 : 0};
}

}  // namespace

TileDiffer::TileDiffer(const PyramidLayout& layout, const DiffConfig& config, int device, cudaStream_t stream)
    : config_(config),
      wide_(layout.format == TextureFormat::kYuv16),
      stream_(stream),
      tiles_(device, static_cast<std::size_t>(layout.tiles.count()) * sizeof(std::uint32_t)),
      tiles_host_(device, tiles_.size_bytes()),
      read_(device),
      damage_(layout.tiles) {}

void TileDiffer::start_over(const DiffConfig& config) {
  config_ = config;
  everything_next_ = true;
  everything_ = false;
  fetched_ = true;
  damage_.clear();
}

void TileDiffer::diff(PixelLayout layout, const TextureParams& texture, const SourceParams& frame, bool write) {
  launch_update(layout, texture, frame, diff_params(config_, wide_, everything_next_), write, tiles(), stream_);
  everything_ = everything_next_;
  everything_next_ = false;
  fetched_ = false;
}

const Damage& TileDiffer::damage() {
  if (fetched_) return damage_;
  cuda_check(cudaMemcpyAsync(tiles_host_.data(), tiles_.data(), tiles_.size_bytes(), cudaMemcpyDeviceToHost, stream_),
             "cudaMemcpyAsync");
  read_.record(stream_);
  read_.wait();
  fetched_ = true;
  if (everything_) {
    damage_.set_all();
    return damage_;
  }
  damage_.clear();
  const auto* words = tiles_host_.as<const std::uint32_t>();
  const int count = damage_.grid().count();
  for (int i = 0; i < count; ++i) {
    if (words[i] != 0) damage_.set(i, words[i] & ~kTileDamaged);
  }
  return damage_;
}

}  // namespace saccade::cuda
