#include "kernels/cuda/frame_intake.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "gpu/cuda/error.h"

namespace saccade::cuda {
namespace {

// Above this share of tiles one copy of whole planes beats reading tiles in place over the bus.
constexpr double kInPlaceShare = 0.2;
// The same for tiles packed by the CPU against rows copied by it.
constexpr double kPackedShare = 0.35;
constexpr std::size_t kCopyPitch = 256;

std::size_t round_up(std::size_t value, std::size_t multiple) { return (value + multiple - 1) / multiple * multiple; }

bool is_planar(PixelLayout layout) { return layout == PixelLayout::kI420 || layout == PixelLayout::kI420p16; }
bool is_wide(PixelLayout layout) { return layout == PixelLayout::kI420p16 || layout == PixelLayout::kP016; }

std::size_t plane_count(PixelLayout layout) {
  if (layout == PixelLayout::kRgba8) return 1;
  return is_planar(layout) ? 3 : 2;
}

// The planes of a frame, and of a copy whose rows begin at multiples of kCopyPitch.
struct FramePlanes {
  std::size_t count = 0;
  std::size_t row_bytes[3] = {};
  std::size_t rows[3] = {};
  std::size_t pitch[3] = {};   // of the copy
  std::size_t offset[3] = {};  // in the copy
  std::size_t copy_bytes = 0;
};

FramePlanes planes_of(PixelLayout layout, int width_px, int height_px) {
  const auto width = static_cast<std::size_t>(width_px);
  const auto height = static_cast<std::size_t>(height_px);
  const std::size_t bytes = is_wide(layout) ? 2 : 1;
  FramePlanes planes;
  planes.count = plane_count(layout);
  for (std::size_t p = 0; p < planes.count; ++p) {
    planes.row_bytes[p] = p > 0 ? (width + 1) / 2 * bytes * (is_planar(layout) ? 1 : 2)
                                : width * (layout == PixelLayout::kRgba8 ? 4 : bytes);
    planes.rows[p] = p > 0 ? (height + 1) / 2 : height;
    planes.pitch[p] = round_up(planes.row_bytes[p], kCopyPitch);
    planes.offset[p] = planes.copy_bytes;
    planes.copy_bytes += planes.pitch[p] * planes.rows[p];
  }
  return planes;
}

// Whether the device can read all planes in place.
bool is_pinned(const FrameView& frame) {
  const auto pinned = [](const PlaneView& plane) { return saccade::is_pinned(plane.data); };
  return std::all_of(frame.planes.begin(), frame.planes.begin() + plane_count(frame.layout), pinned);
}

void copy_pinned(const FrameView& frame, const FramePlanes& planes, std::uint8_t* copy, cudaStream_t stream) {
  for (std::size_t p = 0; p < planes.count; ++p) {
    const PlaneView& from = frame.planes[p];
    std::uint8_t* const out = copy + planes.offset[p];
    if (from.pitch_bytes >= static_cast<std::ptrdiff_t>(planes.row_bytes[p])) {
      cuda_check(cudaMemcpy2DAsync(out, planes.pitch[p], from.data, static_cast<std::size_t>(from.pitch_bytes),
                                   planes.row_bytes[p], planes.rows[p], cudaMemcpyHostToDevice, stream),
                 "cudaMemcpy2DAsync");
      continue;
    }
    for (std::size_t y = 0; y < planes.rows[p]; ++y) {  // bottom-up rows: no 2D copy takes a negative pitch
      const std::uint8_t* row = from.data + static_cast<std::ptrdiff_t>(y) * from.pitch_bytes;
      cuda_check(cudaMemcpyAsync(out + y * planes.pitch[p], row, planes.row_bytes[p], cudaMemcpyHostToDevice, stream),
                 "cudaMemcpyAsync");
    }
  }
}

void copy_rows(const FrameView& frame, const FramePlanes& planes, std::uint8_t* copy) {
  for (std::size_t p = 0; p < planes.count; ++p) {
    const PlaneView& from = frame.planes[p];
    for (std::size_t y = 0; y < planes.rows[p]; ++y) {
      std::memcpy(copy + planes.offset[p] + y * planes.pitch[p],
                  from.data + static_cast<std::ptrdiff_t>(y) * from.pitch_bytes, planes.row_bytes[p]);
    }
  }
}

// A tile's rows of kTileRowBytes, of which the frame has `row_bytes`. Whole tiles copy by a constant size.
template <int kTileRowBytes>
void copy_tile(const PlaneView& plane, int x_bytes, int y, int row_bytes, int rows, std::uint8_t* out) {
  const std::uint8_t* from = plane.data + y * plane.pitch_bytes + x_bytes;
  for (int j = 0; j < rows; ++j, from += plane.pitch_bytes, out += kTileRowBytes) {
    if (row_bytes == kTileRowBytes) {
      std::memcpy(out, from, kTileRowBytes);
    } else {
      std::memcpy(out, from, static_cast<std::size_t>(row_bytes));
    }
  }
}

template <typename Sample>
void interleave_rows(const PlaneView& cb, const PlaneView& cr, int x, int y, int width, int rows, std::uint8_t* out) {
  constexpr int kSide = kTilePx / 2;
  constexpr std::ptrdiff_t kBytes = sizeof(Sample);
  for (int j = 0; j < rows; ++j, out += 2 * kSide * kBytes) {
    Sample a[kSide];
    Sample b[kSide];
    Sample both[2 * kSide];
    const std::size_t bytes = static_cast<std::size_t>(width) * sizeof(Sample);
    std::memcpy(a, cb.data + (y + j) * cb.pitch_bytes + x * kBytes, bytes);
    std::memcpy(b, cr.data + (y + j) * cr.pitch_bytes + x * kBytes, bytes);
    for (int i = 0; i < width; ++i) {
      both[2 * i] = a[i];
      both[2 * i + 1] = b[i];
    }
    std::memcpy(out, both, 2 * bytes);
  }
}

// Writes image tile (tx, ty): 16x16 luma or RGBA texels, then, from chroma_offset on, 8x8 interleaved chroma texels.
// Samples outside the image are left as they are.
void pack_tile(const FrameView& frame, int tx, int ty, std::size_t chroma_offset, std::uint8_t* out) {
  const int x = tx * kTilePx;
  const int y = ty * kTilePx;
  const int width = std::min(kTilePx, frame.width_px - x);
  const int rows = std::min(kTilePx, frame.height_px - y);
  if (frame.layout == PixelLayout::kRgba8) {
    copy_tile<kTilePx * 4>(frame.planes[0], x * 4, y, width * 4, rows, out);
    return;
  }
  const int chroma_width = (width + 1) / 2;
  const int chroma_rows = (rows + 1) / 2;
  std::uint8_t* chroma = out + chroma_offset;
  const bool wide = is_wide(frame.layout);
  if (wide) {
    copy_tile<kTilePx * 2>(frame.planes[0], x * 2, y, width * 2, rows, out);
  } else {
    copy_tile<kTilePx>(frame.planes[0], x, y, width, rows, out);
  }
  if (is_planar(frame.layout)) {
    const auto interleave = wide ? interleave_rows<std::uint16_t> : interleave_rows<std::uint8_t>;
    interleave(frame.planes[1], frame.planes[2], x / 2, y / 2, chroma_width, chroma_rows, chroma);
  } else if (wide) {
    copy_tile<kTilePx * 2>(frame.planes[1], x * 2, y / 2, chroma_width * 4, chroma_rows, chroma);
  } else {
    copy_tile<kTilePx>(frame.planes[1], x, y / 2, chroma_width * 2, chroma_rows, chroma);
  }
}

// Of packed tiles: chroma interleaved.
PixelLayout packed_layout(PixelLayout layout) {
  if (!is_planar(layout)) return layout;
  return is_wide(layout) ? PixelLayout::kP016 : PixelLayout::kNv12;
}

int alignment_of(const SourceParams& source, std::size_t planes) {
  std::uintptr_t bits = 0;
  for (std::size_t p = 0; p < planes; ++p)
    bits |= reinterpret_cast<std::uintptr_t>(source.plane[p]) | static_cast<std::uintptr_t>(source.pitch[p]);
  if (bits % kStripAlignment == 0) return kStripAlignment;
  return bits % kWordAlignment == 0 ? kWordAlignment : 1;
}

}  // namespace

SourceParams source_of(const FrameView& frame) {
  SourceParams source{};
  const std::size_t count = plane_count(frame.layout);
  for (std::size_t p = 0; p < count; ++p) {
    source.plane[p] = frame.planes[p].data;
    source.pitch[p] = frame.planes[p].pitch_bytes;
  }
  source.shift = frame.shift;
  source.alignment = alignment_of(source, count);
  return source;
}

FrameIntake::FrameIntake(const PyramidLayout& layout, int device, cudaStream_t stream)
    : layout_(layout),
      device_(device),
      stream_(stream),
      chroma_offset_(static_cast<std::size_t>(kTilePx * kTilePx * layout.planes[0].texel_bytes())),
      tile_bytes_(chroma_offset_ + static_cast<std::size_t>(layout.plane_count > 1
                                                                ? kTilePx * kTilePx / 4 * layout.planes[1].texel_bytes()
                                                                : 0)),
      table_bytes_(round_up(static_cast<std::size_t>(layout.tiles.count()) * sizeof(std::uint32_t), kCopyPitch)),
      packed_bytes_(table_bytes_ + static_cast<std::size_t>(layout.tiles.count()) * tile_bytes_),
      uploads_(device, 2),
      frame_made_(device) {}

// Three planes with rows rounded up take most.
void FrameIntake::reserve() {
  const PixelLayout most = layout_.format == TextureFormat::kRgba8   ? PixelLayout::kRgba8
                           : layout_.format == TextureFormat::kYuv16 ? PixelLayout::kI420p16
                                                                     : PixelLayout::kI420;
  const std::size_t copy_bytes =
      planes_of(most, layout_.planes[0].image_width, layout_.planes[0].image_height).copy_bytes;
  packed_ = CudaBuffer(device_, packed_bytes_);
  copy_ = CudaBuffer(device_, copy_bytes);
  uploads_.reserve(std::max(packed_bytes_, copy_bytes));
}

void FrameIntake::check(const FrameView& frame) const {
  check_fits(frame, layout_);
  if (frame.space != MemorySpace::kCuda || frame.device == device_) return;
  throw std::invalid_argument(
      fmt::format("a frame on CUDA device {} can't be read by a texture on device {}", frame.device, device_));
}

void FrameIntake::follow(const FrameView& frame) {
  if (frame.space != MemorySpace::kCuda || frame.stream == nullptr) return;
  frame_made_.record(static_cast<cudaStream_t>(frame.stream));
  frame_made_.make_wait(stream_);
}

SourceParams FrameIntake::whole(const FrameView& frame) {
  reads_frame_ = true;
  if (frame.space == MemorySpace::kCuda) return source_of(frame);
  const FramePlanes planes = planes_of(frame.layout, frame.width_px, frame.height_px);
  if (copy_.size_bytes() < planes.copy_bytes) copy_ = CudaBuffer(device_, planes.copy_bytes);
  if (is_pinned(frame)) {
    copy_pinned(frame, planes, copy_.data(), stream_);
  } else {
    copy_rows(frame, planes, uploads_.next(planes.copy_bytes));
    uploads_.send(copy_.data(), planes.copy_bytes, stream_);
    reads_frame_ = false;
  }
  FrameView copy = frame;
  for (std::size_t p = 0; p < planes.count; ++p)
    copy.planes[p] = {copy_.data() + planes.offset[p], static_cast<std::ptrdiff_t>(planes.pitch[p])};
  return source_of(copy);
}

// Page-locked and all zero, with room for all tiles behind it.
std::uint32_t* FrameIntake::begin_table() {
  if (packed_.size_bytes() == 0) packed_ = CudaBuffer(device_, packed_bytes_);
  auto* const table = reinterpret_cast<std::uint32_t*>(uploads_.next(packed_bytes_));
  std::memset(table, 0, table_bytes_);
  return table;
}

const std::uint32_t* FrameIntake::table(const Damage& damage) {
  std::uint32_t* const table = begin_table();
  damage.for_each([&](int index) { table[index] = kTileDamaged; });
  uploads_.send(packed_.data(), table_bytes_, stream_);
  return packed_.as<std::uint32_t>();
}

FrameIntake::Tiles FrameIntake::tiles(const FrameView& frame, const Damage& damage) {
  const bool on_host = frame.space == MemorySpace::kHost;
  const bool pinned = on_host && is_pinned(frame);
  if (on_host && !pinned && damage.share() <= kPackedShare) return pack(frame, damage);
  // The copy first: the table is made while it runs.
  const bool copy = on_host && (!pinned || damage.share() > kInPlaceShare);
  const SourceParams source = copy ? whole(frame) : source_of(frame);
  return {frame.layout, source, table(damage), false};
}

FrameIntake::Tiles FrameIntake::pack(const FrameView& frame, const Damage& damage) {
  std::uint32_t* const table = begin_table();
  std::uint8_t* tile = reinterpret_cast<std::uint8_t*>(table) + table_bytes_;
  std::uint32_t count = 0;
  const int cols = layout_.tiles.cols;
  damage.for_each([&](int index) {
    table[index] = kTileDamaged | count++;
    pack_tile(frame, index % cols, index / cols, chroma_offset_, tile);
    tile += tile_bytes_;
  });
  uploads_.send(packed_.data(), table_bytes_ + count * tile_bytes_, stream_);
  SourceParams source{};
  for (int p = 0; p < layout_.plane_count; ++p) {
    const PlaneLayout& plane = layout_.planes[static_cast<std::size_t>(p)];
    source.plane[p] = packed_.data() + table_bytes_ + (p == 0 ? 0 : chroma_offset_);
    source.pitch[p] = plane.tile_size() * plane.texel_bytes();
  }
  source.shift = frame.shift;
  source.alignment = kStripAlignment;
  source.tile_stride = static_cast<long long>(tile_bytes_);
  return {packed_layout(frame.layout), source, packed_.as<std::uint32_t>(), true};
}

}  // namespace saccade::cuda
