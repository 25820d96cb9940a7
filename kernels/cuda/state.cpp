#include "kernels/cuda/state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "gpu/cuda/error.h"
#include "kernels/cuda/host_frame.h"
#include "kernels/shared/fovea.h"

namespace saccade::cuda {
namespace {

// Above this share of tiles one copy of whole planes beats reading tiles in place over the bus.
constexpr double kInPlaceShare = 0.2;
// The same for tiles packed by the CPU against rows copied by it.
constexpr double kPackedShare = 0.35;
constexpr std::size_t kCopyPitch = 256;

std::size_t round_up(std::size_t value, std::size_t multiple) { return (value + multiple - 1) / multiple * multiple; }

int alignment_of(const SourceParams& source, int planes) {
  std::uintptr_t bits = 0;
  for (int p = 0; p < planes; ++p)
    bits |= reinterpret_cast<std::uintptr_t>(source.plane[p]) | static_cast<std::uintptr_t>(source.pitch[p]);
  if (bits % kStripAlignment == 0) return kStripAlignment;
  return bits % kWordAlignment == 0 ? kWordAlignment : 1;
}

DiffParams diff_params(const DiffConfig& config, bool wide, bool everything) {
  const auto in_samples = [wide](int code) {
    const int clamped = std::clamp(code, 0, 256);  // 256: no difference is larger
    return static_cast<std::uint32_t>(wide ? std::min(clamped * 256, 65535) : std::min(clamped, 255));
  };
  return {in_samples(config.threshold), static_cast<std::uint32_t>(std::max(config.min_pixels, 0)),
          in_samples(config.noise_floor), everything ? 1 : 0};
}

// Of a copy whose rows begin at multiples of kCopyPitch.
std::size_t copy_bytes(const FrameView& frame) {
  const FramePlanes shape = planes_of(frame);
  std::size_t total = 0;
  for (int p = 0; p < shape.count; ++p) total += round_up(shape.row_bytes[p], kCopyPitch) * shape.rows[p];
  return total;
}

}  // namespace

SourceParams source_of(const FrameView& frame) {
  SourceParams source{};
  const int count = planes_of(frame).count;
  for (int p = 0; p < count; ++p) {
    const PlaneView& plane = frame.planes[static_cast<std::size_t>(p)];
    source.plane[p] = plane.data;
    source.pitch[p] = plane.pitch_bytes;
  }
  source.shift = frame.shift;
  source.alignment = alignment_of(source, count);
  return source;
}

CudaState::CudaState(const PyramidLayout& shape, const CudaTextureConfig& config,
                     std::unique_ptr<TextureStorage> arrays)
    : layout(shape),
      device(config.device),
      diff(config.diff),
      staged(config.staged),
      stream(device),
      storage(std::move(arrays)),
      diff_read(device),
      frame_made(device),
      damage(shape.tiles),
      slots{InputSlot(device), InputSlot(device)},
      plan_copied(device),
      batch_read(device),
      batches(std::make_shared<KeptBatches>(config.kept_batches)) {
  const CudaDeviceGuard guard = on_device();
  early_launch = sampler_can_wait(device);
  for (int p = 0; p < layout.plane_count; ++p) {
    const PlaneLayout& plane = layout.planes[static_cast<std::size_t>(p)];
    texture.plane[p].levels = plane.levels;
    texture.plane[p].image_width = plane.image_width;
    texture.plane[p].image_height = plane.image_height;
  }
  tile_sums = CudaBuffer(device, static_cast<std::size_t>(layout.padded_tiles.count()) * 4 * sizeof(std::uint32_t));
  cuda_check(cudaMemsetAsync(tile_sums.data(), 0, tile_sums.size_bytes(), stream.get()), "cudaMemsetAsync");
  texture.tile_cols = layout.tiles.cols;
  texture.tile_rows = layout.tiles.rows;
  texture.padded_tile_cols = layout.padded_tiles.cols;
  texture.padded_tile_rows = layout.padded_tiles.rows;
  texture.tile_sums = tile_sums.as<std::uint32_t>();

  table_bytes = round_up(static_cast<std::size_t>(layout.tiles.count()) * sizeof(std::uint32_t), kCopyPitch);
  chroma_offset = static_cast<std::size_t>(kTilePx * kTilePx * layout.planes[0].texel_bytes());
  tile_bytes = chroma_offset + static_cast<std::size_t>(kTilePx * kTilePx / 4 *
                                                        (layout.plane_count > 1 ? layout.planes[1].texel_bytes() : 0));
  packed_bytes = table_bytes + static_cast<std::size_t>(layout.tiles.count()) * tile_bytes;
  diff_tiles = CudaBuffer(device, table_bytes);
  diff_tiles_host = PinnedBuffer(device, table_bytes);
}

// The next update writes all of level 0, its levels and sums. What only saves work stays: buffers and their sizes.
void CudaState::start_over(const DiffConfig& config) {
  diff = config;
  everything_next = true;
  diff_everything = false;
  reads_frame = false;
  damage_fetched = true;
  damage.clear();
  levels_done = false;
  plan_patches.clear();
  plan_size = 0;
  hardware = false;
  const CudaDeviceGuard guard = on_device();
  caller.reset();
}

// Three planes with rows rounded up take most.
void CudaState::reserve_input() {
  FrameView frame;
  frame.width_px = layout.planes[0].image_width;
  frame.height_px = layout.planes[0].image_height;
  frame.layout = layout.format == TextureFormat::kRgba8   ? PixelLayout::kRgba8
                 : layout.format == TextureFormat::kYuv16 ? PixelLayout::kI420p16
                                                          : PixelLayout::kI420;
  packed = CudaBuffer(device, packed_bytes);
  frame_copy = CudaBuffer(device, copy_bytes(frame));
  for (InputSlot& each : slots) each.bytes = PinnedBuffer(device, std::max(packed_bytes, frame_copy.size_bytes()));
}

void CudaState::open_texture() {
  storage->open(stream.get());
  for (int p = 0; p < layout.plane_count; ++p) {
    const CudaMipmap& plane = storage->plane(p);
    for (int l = 0; l < texture.plane[p].levels; ++l) texture.plane[p].level[l] = plane.surface(l);
  }
}

void CudaState::check_frame(const FrameView& frame) const {
  check_fits(frame, layout);
  if (frame.space != MemorySpace::kCuda || frame.device == device) return;
  throw std::invalid_argument(
      fmt::format("a frame on CUDA device {} can't be read by a texture on device {}", frame.device, device));
}

InputSlot& CudaState::next_slot() {
  slot ^= 1;
  InputSlot& next = slots[static_cast<std::size_t>(slot)];
  next.copied.wait();
  if (next.bytes.size_bytes() < packed_bytes) next.bytes = PinnedBuffer(device, packed_bytes);
  if (packed.size_bytes() == 0) packed = CudaBuffer(device, packed_bytes);
  return next;
}

SourceParams CudaState::source_on_device(const FrameView& frame) {
  reads_frame = true;
  if (frame.space == MemorySpace::kCuda) return source_of(frame);
  const FramePlanes shape = planes_of(frame);
  const std::size_t total = copy_bytes(frame);
  if (frame_copy.size_bytes() < total) frame_copy = CudaBuffer(device, total);
  FrameView copy = frame;
  std::uint8_t* to = frame_copy.data();
  for (int p = 0; p < shape.count; ++p) {
    const std::size_t pitch = round_up(shape.row_bytes[p], kCopyPitch);
    copy.planes[static_cast<std::size_t>(p)] = {to, static_cast<std::ptrdiff_t>(pitch)};
    to += pitch * shape.rows[p];
  }
  if (frame_is_pinned(frame)) {
    copy_pinned(frame, copy);
  } else {
    copy_pageable(frame, copy, total);
    reads_frame = false;
  }
  return source_of(copy);
}

void CudaState::copy_pinned(const FrameView& frame, const FrameView& copy) {
  const FramePlanes shape = planes_of(frame);
  for (int p = 0; p < shape.count; ++p) {
    const PlaneView& from = frame.planes[static_cast<std::size_t>(p)];
    const PlaneView& to = copy.planes[static_cast<std::size_t>(p)];
    auto* out = const_cast<std::uint8_t*>(to.data);  // frame_copy's own bytes
    const auto pitch = static_cast<std::size_t>(to.pitch_bytes);
    if (from.pitch_bytes >= static_cast<std::ptrdiff_t>(shape.row_bytes[p])) {
      cuda_check(cudaMemcpy2DAsync(out, pitch, from.data, static_cast<std::size_t>(from.pitch_bytes),
                                   shape.row_bytes[p], shape.rows[p], cudaMemcpyHostToDevice, stream.get()),
                 "cudaMemcpy2DAsync");
      continue;
    }
    for (std::size_t y = 0; y < shape.rows[p]; ++y) {  // bottom-up rows: no 2D copy takes a negative pitch
      const std::uint8_t* row = from.data + static_cast<std::ptrdiff_t>(y) * from.pitch_bytes;
      cuda_check(cudaMemcpyAsync(out + y * pitch, row, shape.row_bytes[p], cudaMemcpyHostToDevice, stream.get()),
                 "cudaMemcpyAsync");
    }
  }
}

void CudaState::copy_pageable(const FrameView& frame, const FrameView& copy, std::size_t total) {
  const FramePlanes shape = planes_of(frame);
  InputSlot& through = next_slot();
  if (through.bytes.size_bytes() < total) through.bytes = PinnedBuffer(device, total);
  for (int p = 0; p < shape.count; ++p) {
    const PlaneView& from = frame.planes[static_cast<std::size_t>(p)];
    const PlaneView& to = copy.planes[static_cast<std::size_t>(p)];
    std::uint8_t* out = through.bytes.data() + (to.data - frame_copy.data());
    for (std::size_t y = 0; y < shape.rows[p]; ++y) {
      std::memcpy(out + y * static_cast<std::size_t>(to.pitch_bytes),
                  from.data + static_cast<std::ptrdiff_t>(y) * from.pitch_bytes, shape.row_bytes[p]);
    }
  }
  cuda_check(cudaMemcpyAsync(frame_copy.data(), through.bytes.data(), total, cudaMemcpyHostToDevice, stream.get()),
             "cudaMemcpyAsync");
  through.copied.record(stream.get());
}

void CudaState::follow(const FrameView& frame) {
  if (frame.space != MemorySpace::kCuda || frame.stream == nullptr) return;
  frame_made.record(static_cast<cudaStream_t>(frame.stream));
  frame_made.make_wait(stream.get());
}

void CudaState::run_diff(const FrameView& frame, bool write) {
  check_frame(frame);
  follow(frame);
  const SourceParams source = source_on_device(frame);
  open_texture();
  const DiffParams params = diff_params(diff, layout.format == TextureFormat::kYuv16, everything_next);
  launch_update(frame.layout, texture, source, params, write, diff_tiles.as<std::uint32_t>(), stream.get());
  diff_everything = everything_next;
  everything_next = false;
  damage_fetched = false;
}

const Damage& CudaState::read_damage() {
  if (damage_fetched) return damage;
  cuda_check(cudaMemcpyAsync(diff_tiles_host.data(), diff_tiles.data(),
                             static_cast<std::size_t>(layout.tiles.count()) * sizeof(std::uint32_t),
                             cudaMemcpyDeviceToHost, stream.get()),
             "cudaMemcpyAsync");
  diff_read.record(stream.get());
  diff_read.wait();
  damage_fetched = true;
  if (diff_everything) {
    damage.set_all();
    return damage;
  }
  damage.clear();
  const auto* words = diff_tiles_host.as<const std::uint32_t>();
  const int count = layout.tiles.count();
  for (int i = 0; i < count; ++i) {
    if (words[i] != 0) damage.set(i, words[i] & ~kTileDamaged);
  }
  return damage;
}

void CudaState::send_tiles(const Damage& marks) {
  InputSlot& to = next_slot();
  auto* table = to.bytes.as<std::uint32_t>();
  std::memset(table, 0, table_bytes);
  marks.for_each([&](int index) { table[index] = kTileDamaged; });
  cuda_check(cudaMemcpyAsync(packed.data(), table, table_bytes, cudaMemcpyHostToDevice, stream.get()),
             "cudaMemcpyAsync");
  to.copied.record(stream.get());
}

void CudaState::send_packed(const FrameView& frame, const Damage& marks) {
  InputSlot& to = next_slot();
  auto* table = to.bytes.as<std::uint32_t>();
  std::memset(table, 0, table_bytes);
  std::uint8_t* tile = to.bytes.data() + table_bytes;
  std::uint32_t count = 0;
  const int cols = layout.tiles.cols;
  marks.for_each([&](int index) {
    table[index] = kTileDamaged | count++;
    pack_tile(frame, index % cols, index / cols, chroma_offset, tile);
    tile += tile_bytes;
  });
  cuda_check(cudaMemcpyAsync(packed.data(), table, static_cast<std::size_t>(tile - to.bytes.data()),
                             cudaMemcpyHostToDevice, stream.get()),
             "cudaMemcpyAsync");
  to.copied.record(stream.get());
}

void CudaState::run_apply(const FrameView& frame, const Damage& marks, bool refresh) {
  check_frame(frame);
  check_damage(marks, layout);
  if (marks.count() == 0) return;
  open_texture();
  if (marks.all() && refresh) {
    const DiffParams everything{0, 0, 0, 1};
    launch_update(frame.layout, texture, source_on_device(frame), everything, true, diff_tiles.as<std::uint32_t>(),
                  stream.get());
    return;
  }
  const bool on_host = frame.space == MemorySpace::kHost;
  const bool pinned = on_host && frame_is_pinned(frame);
  ApplyParams apply;
  apply.refresh = refresh;
  if (on_host && !pinned && marks.share() <= kPackedShare) {
    send_packed(frame, marks);
    apply.tiles = packed.as<std::uint32_t>();
    apply.packed = true;
    launch_apply(packed_layout(frame.layout), texture, packed_source(frame), apply, stream.get());
    return;
  }
  // The copy first: the table is made while it runs.
  const bool copy = on_host && (!pinned || marks.share() > kInPlaceShare);
  const SourceParams source = copy ? source_on_device(frame) : source_of(frame);
  send_tiles(marks);
  apply.tiles = packed.as<std::uint32_t>();
  launch_apply(frame.layout, texture, source, apply, stream.get());
}

SourceParams CudaState::packed_source(const FrameView& frame) const {
  SourceParams source{};
  for (int p = 0; p < layout.plane_count; ++p) {
    const PlaneLayout& plane = layout.planes[static_cast<std::size_t>(p)];
    source.plane[p] = packed.data() + table_bytes + (p == 0 ? 0 : chroma_offset);
    source.pitch[p] = plane.tile_size() * plane.texel_bytes();
  }
  source.shift = frame.shift;
  source.alignment = kStripAlignment;
  source.tile_stride = static_cast<long long>(tile_bytes);
  return source;
}

void CudaState::reserve_plan(std::size_t count) {
  if (plan_device.size_bytes() < count * kPlanBytes) plan_device = CudaBuffer(device, count * kPlanBytes);
}

void CudaState::write_records(const PatchPlan& plan, PatchRecord* out) {
  for (std::size_t n = 0; n < plan.count(); ++n) {
    const Patch& patch = plan.patches[n];
    out[n] = {patch.x_px, patch.y_px, patch.lod, patch.coverage > 0.0f ? shared::exp2(patch.lod) : 0.0f};
  }
}

void CudaState::send_plan(const PatchPlan& plan) {
  if (plan.patch_size == plan_size && plan.patches == plan_patches) return;
  const std::size_t bytes = plan.count() * sizeof(PatchRecord);
  plan_copied.wait();
  if (plan_host.size_bytes() < bytes) plan_host = PinnedBuffer(device, bytes);
  reserve_plan(plan.count());
  if (caller) caller->sent_places.clear();  // the block is written over
  auto* records = plan_host.as<PatchRecord>();
  write_records(plan, records);
  cuda_check(cudaMemcpyAsync(plan_device.data(), records, bytes, cudaMemcpyHostToDevice, stream.get()),
             "cudaMemcpyAsync");
  plan_copied.record(stream.get());
  plan_patches = plan.patches;
  plan_size = plan.patch_size;
}

void CudaState::run_sample(const ColorSpec& color, const SampleFormat& format, std::uint8_t* out) {
  const std::size_t count = plan_patches.size();
  const auto area = static_cast<std::size_t>(plan_size) * static_cast<std::size_t>(plan_size);
  batch_bytes = count * 3 * area * size_bytes(format.type);
  batch_format = format;
  if (out == nullptr && batch.size_bytes() < batch_bytes) {
    CudaBuffer on_device_batch(device, batch_bytes);
    batch_host = PinnedBuffer(device, batch_bytes);
    batch = std::move(on_device_batch);  // last: its size stands for both
  }
  open_texture();
  SampleParams params{};
  for (int p = 0; p < layout.plane_count; ++p) {
    params.plane[p] = texture.plane[p];
    params.texture[p] = storage->plane(p).texture();
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
  params.patches = plan_device.as<PatchRecord>();
  params.out = out != nullptr ? out : batch.data();
  params.count = static_cast<int>(count);
  params.size = plan_size;
  params.type = format.type;
  params.hardware = hardware;
  params.early_launch = early_launch;
  launch_sample(layout.format, params, stream.get());
}

void CudaState::fetch_batch() {
  if (batch_bytes > 0) {
    cuda_check(cudaMemcpyAsync(batch_host.data(), batch.data(), batch_bytes, cudaMemcpyDeviceToHost, stream.get()),
               "cudaMemcpyAsync");
  }
  batch_read.record(stream.get());
}

}  // namespace saccade::cuda
