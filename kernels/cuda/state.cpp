#include "kernels/cuda/state.h"

#include <algorithm>
#include <utility>

namespace saccade::cuda {

DeviceLevels::DeviceLevels(const PyramidLayout& layout, int device, cudaStream_t stream,
                           std::unique_ptr<TextureStorage> storage)
    : stream_(stream),
      storage_(std::move(storage)),
      tile_sums_(device, static_cast<std::size_t>(layout.padded_tiles.count()) * 4 * sizeof(std::uint32_t)) {
  const CudaDeviceGuard guard(device);
  cuda_check(cudaMemsetAsync(tile_sums_.data(), 0, tile_sums_.size_bytes(), stream), "cudaMemsetAsync");
  for (int p = 0; p < layout.plane_count; ++p) {
    const PlaneLayout& plane = layout.planes[static_cast<std::size_t>(p)];
    params_.plane[p].levels = plane.levels;
    params_.plane[p].image_width = plane.image_width;
    params_.plane[p].image_height = plane.image_height;
  }
  params_.tile_cols = layout.tiles.cols;
  params_.tile_rows = layout.tiles.rows;
  params_.padded_tile_cols = layout.padded_tiles.cols;
  params_.padded_tile_rows = layout.padded_tiles.rows;
  params_.tile_sums = tile_sums_.as<std::uint32_t>();
}

const TextureParams& DeviceLevels::open() {
  storage_->open(stream_);
  int index = 0;
  for (PlaneSurfaces& plane : params_.plane) {
    for (int l = 0; l < plane.levels; ++l) plane.level[l] = storage_->plane(index).surface(l);
    ++index;
  }
  return params_;
}

CudaState::CudaState(const PyramidLayout& shape, const CudaTextureConfig& config,
                     std::unique_ptr<TextureStorage> storage)
    : layout(shape),
      staged(config.staged),
      stream(config.device),
      levels(shape, config.device, stream.get(), std::move(storage)),
      differ(shape, config.diff, config.device, stream.get()),
      intake(shape, config.device, stream.get()),
      plan(config.device),
      early_launch(false),
      batches(std::make_shared<KeptBatches>(config.kept_batches)) {
  const CudaDeviceGuard guard = make_current();
  early_launch = sampler_can_wait(config.device);
  if (config.host_frames) intake.reserve();
}

void CudaState::diff(const FrameView& frame, bool write) {
  intake.check(frame);
  intake.follow(frame);
  const SourceParams source = intake.whole(frame);
  differ.diff(frame.layout, levels.open(), source, write);
  levels_done = levels_done || write;
}

std::int64_t CudaState::upload(const FrameView& frame, const Damage& damage) {
  intake.check(frame);
  check_damage(damage, layout);
  levels_done = !staged;
  if (damage.count() == 0) return 0;
  const TextureParams& texture = levels.open();
  if (damage.all() && !staged) {
    const DiffParams everything{0, 0, 0, 1};
    launch_update(frame.layout, texture, intake.whole(frame), everything, true, differ.tiles(), stream.get());
  } else {
    const FrameIntake::Tiles tiles = intake.tiles(frame, damage);
    launch_apply(tiles.layout, texture, tiles.source, {tiles.table, tiles.packed, true, !staged}, stream.get());
  }
  return bytes_of(damage);
}

void CudaState::refresh_mips(const Damage& damage) {
  const PixelLayout any = layout.format == TextureFormat::kRgba8   ? PixelLayout::kRgba8
                          : layout.format == TextureFormat::kYuv16 ? PixelLayout::kP016
                                                                   : PixelLayout::kNv12;
  const TextureParams& texture = levels.open();
  launch_apply(any, texture, {}, {intake.table(damage), false, false, true}, stream.get());
}

void CudaState::sample(const ColorSpec& color, const SampleFormat& format, void* out) {
  SampleParams params{};
  const TextureParams& texture = levels.open();
  for (int p = 0; p < layout.plane_count; ++p) {
    params.plane[p] = texture.plane[p];
    params.texture[p] = levels.plane(p).texture();
    params.width[p] = layout.planes[static_cast<std::size_t>(p)].width;
    params.height[p] = layout.planes[static_cast<std::size_t>(p)].height;
    params.inverse_width[p] = 1.0f / static_cast<float>(params.width[p]);
    params.inverse_height[p] = 1.0f / static_cast<float>(params.height[p]);
  }
  const float code_max = hardware ? 1.0f : layout.format == TextureFormat::kYuv16 ? 65535.0f : 255.0f;
  if (layout.format != TextureFormat::kRgba8) params.color = make_color_params(color, code_max);
  params.site_shift_x = color.site_shift_x;
  params.site_shift_y = color.site_shift_y;
  std::copy(format.mean.begin(), format.mean.end(), params.mean);
  std::copy(format.inv_std.begin(), format.inv_std.end(), params.inv_std);
  params.patches = plan.patches();
  params.out = out;
  params.count = static_cast<int>(plan.count());
  params.size = plan.patch_size();
  params.type = format.type;
  params.hardware = hardware;
  params.early_launch = early_launch;
  launch_sample(layout.format, params, stream.get());
}

CallerWork& CudaState::caller_work() {
  if (!caller) caller = std::make_unique<CallerWork>(stream.device(), layout, stream.get());
  return *caller;
}

std::int64_t CudaState::bytes_of(const Damage& damage) const {
  std::int64_t tile_bytes = 0;
  for (int p = 0; p < layout.plane_count; ++p) {
    const PlaneLayout& plane = layout.planes[static_cast<std::size_t>(p)];
    tile_bytes += std::int64_t{plane.tile_size()} * plane.tile_size() * plane.texel_bytes();
  }
  const TileGrid tiles = layout.tiles;
  const int extra_cols = layout.padded_tiles.cols - tiles.cols;
  const int extra_rows = layout.padded_tiles.rows - tiles.rows;
  std::int64_t count = 0;
  damage.for_each([&](int index) {
    const int across = index % tiles.cols == tiles.cols - 1 ? 1 + extra_cols : 1;
    const int down = index / tiles.cols == tiles.rows - 1 ? 1 + extra_rows : 1;
    count += std::int64_t{across} * down;
  });
  return count * tile_bytes;
}

}  // namespace saccade::cuda
