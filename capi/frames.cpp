// Frames of the caller's: saccade_stream_open_frames(), _push(), _push_end().
#include <fmt/format.h>

#include <cmath>
#include <string_view>

#include "capi/stream.h"
#include "capi/structs.h"
#include "kernels/device_texture.h"

using namespace saccade;
using namespace saccade::capi;

namespace {

static_assert(static_cast<int>(PushedPixels::kRgb8) == SACCADE_PIXELS_RGB8);
static_assert(static_cast<int>(PushedPixels::kGray8) == SACCADE_PIXELS_GRAY8);
static_assert(static_cast<int>(PushedPixels::kP010) == SACCADE_PIXELS_P010);

constexpr const char* kOpen = "saccade_stream_open_frames";
constexpr const char* kPush = "saccade_stream_push";

ColorMatrix matrix_of(const char* word, const saccade_frame_format& format) {
  if (word == nullptr || *word == '\0') return default_matrix(format.width_px, format.height_px);
  for (const ColorMatrix matrix :
       {ColorMatrix::kBt601, ColorMatrix::kBt709, ColorMatrix::kBt2020, ColorMatrix::kSmpte240m}) {
    if (std::string_view(word) == name(matrix)) return matrix;
  }
  refuse(kOpen, fmt::format("matrix '{}': it is one of bt601, bt709, bt2020nc, smpte240m", word));
}

ColorRange range_of(const char* word, PushedPixels pixels) {
  if (word == nullptr || *word == '\0') {
    return pixels == PushedPixels::kGray8 ? ColorRange::kFull : ColorRange::kLimited;
  }
  for (const ColorRange range : {ColorRange::kLimited, ColorRange::kFull}) {
    if (std::string_view(word) == name(range)) return range;
  }
  refuse(kOpen, fmt::format("range '{}': it is limited or full", word));
}

PushedFormat checked_format(const saccade_frame_format& format, std::int64_t max_pixels) {
  require(format.pixels >= SACCADE_PIXELS_RGB8 && format.pixels <= SACCADE_PIXELS_P010, kOpen,
          "pixels is no saccade_pixels");
  require(format.memory == SACCADE_HOST || format.memory == SACCADE_CUDA, kOpen, "memory is no saccade_memory");
  if (format.width_px < 1 || format.height_px < 1) {
    refuse(kOpen, fmt::format("a frame of {}x{} pixels", format.width_px, format.height_px));
  }
  require(std::isfinite(format.sar) && format.sar >= 0, kOpen, "sar is no ratio");
  require(std::isfinite(format.fps) && format.fps >= 0, kOpen, "fps is no rate");
  if (std::int64_t{format.width_px} * format.height_px > max_pixels) {
    throw InputError(fmt::format("frames of {}x{} are more than the limit of {} pixels", format.width_px,
                                 format.height_px, max_pixels),
                     Hint::kRaisePixelLimit);
  }
  PushedFormat out;
  out.pixels = static_cast<PushedPixels>(format.pixels);
  out.width_px = format.width_px;
  out.height_px = format.height_px;
  out.color.matrix = matrix_of(format.matrix, format);
  out.color.range = range_of(format.range, out.pixels);
  out.color.depth_bits = out.pixels == PushedPixels::kP010 ? 10 : 8;
  out.sar = format.sar > 0 ? static_cast<float>(format.sar) : 1.0F;
  out.fps = format.fps;
  return out;
}

PushedPicture checked_picture(const saccade_frame& frame) {
  require(frame.memory == SACCADE_HOST || frame.memory == SACCADE_CUDA, kPush, "memory is no saccade_memory");
  PushedPicture picture;
  for (std::size_t p = 0; p < picture.planes.size(); ++p) {
    picture.planes[p] = {static_cast<const std::uint8_t*>(frame.planes[p]),
                         static_cast<std::ptrdiff_t>(frame.pitches_bytes[p])};
  }
  picture.pts_ns = frame.pts_ns;
  if (frame.memory == SACCADE_HOST) return picture;
  picture.space = MemorySpace::kCuda;
  picture.device = frame.device;
  picture.stream = frame.cuda_stream != nullptr ? frame.cuda_stream : kLegacyStream;
  return picture;
}

}  // namespace

saccade_status saccade_stream_open_frames(saccade_stream* stream, const saccade_frame_format* format) {
  return change_stream(stream, kOpen, [&](saccade_stream& opened) {
    const saccade_frame_format asked = read(kOpen, format);
    const PushedFormat checked = checked_format(asked, opened.settings().source.max_pixels);
    opened.open_frames(checked, asked.memory == SACCADE_CUDA ? MemorySpace::kCuda : MemorySpace::kHost);
    return SACCADE_OK;
  });
}

saccade_status saccade_stream_push(saccade_stream* stream, const saccade_frame* frame, std::int32_t* due) {
  if (due != nullptr) *due = 0;
  return change_stream(stream, kPush, [&](saccade_stream& opened) {
    const bool is_due = opened.push(checked_picture(read(kPush, frame)));
    if (due != nullptr) *due = is_due ? 1 : 0;
    return SACCADE_OK;
  });
}

saccade_status saccade_stream_push_end(saccade_stream* stream) {
  return change_stream(stream, "saccade_stream_push_end", [](saccade_stream& opened) {
    opened.push_end();
    return SACCADE_OK;
  });
}
