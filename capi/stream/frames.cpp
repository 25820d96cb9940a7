// Frames of the caller's: saccade_stream_open_frames(), _push(), _push_end().
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "capi/stream/stream.h"
#include "capi/structs.h"
#include "kernels/device_texture.h"
#include "pipeline/options/values.h"

using namespace saccade;
using namespace saccade::capi;

namespace {

static_assert(static_cast<int>(PushedPixels::kRgb8) == SACCADE_PIXELS_RGB8);
static_assert(static_cast<int>(PushedPixels::kGray8) == SACCADE_PIXELS_GRAY8);
static_assert(static_cast<int>(PushedPixels::kP010) == SACCADE_PIXELS_P010);

constexpr const char* kOpen = "saccade_stream_open_frames";
constexpr const char* kPush = "saccade_stream_push";

// 126 years: the time between any two frames, and what a fixation adds to it, fit into 64 bits.
constexpr std::int64_t kMostTime_ns = 4'000'000'000'000'000'000;

bool is_word(const char* text) { return text != nullptr && *text != '\0'; }

// The value that a word names; `what` is the field.
template <NamedEnum E>
E value_of(const char* what, const char* word) {
  const std::optional<E> value = from_name<E>(word);
  if (!value) refuse(kOpen, fmt::format("{} '{}': it is {}", what, word, or_list(choices_of<E>())));
  return *value;
}

// What the caller gives of the colours, and the defaults of untagged video for the rest.
void set_color(const saccade_frame_format& format, PushedFormat& out) {
  out.matrix_given = is_word(format.matrix);
  out.range_given = is_word(format.range);
  const bool is_gray = out.pixels == PushedPixels::kGray8;
  out.color.matrix = out.matrix_given ? value_of<ColorMatrix>("matrix", format.matrix)
                                      : default_matrix(format.width_px, format.height_px);
  out.color.range = out.range_given ? value_of<ColorRange>("range", format.range)
                    : is_gray       ? ColorRange::kFull
                                    : ColorRange::kLimited;
  out.color.depth_bits = out.pixels == PushedPixels::kP010 ? 10 : 8;
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
  set_color(format, out);
  out.sar = format.sar > 0 ? static_cast<float>(format.sar) : 1.0F;
  out.fps = format.fps;
  return out;
}

// Those that hold a pixel.
std::vector<PixelRect> rects_of(const std::int32_t* boxes, std::size_t count) {
  constexpr std::int32_t kFar = 1 << 24;
  std::vector<PixelRect> rects;
  for (const std::int32_t* box = boxes; box != boxes + 4 * count; box += 4) {
    std::array<int, 4> edges{};
    std::transform(box, box + 4, edges.begin(), [&](std::int32_t edge) { return std::clamp(edge, 0, kFar); });
    const PixelRect rect{edges[0], edges[1], edges[2] - edges[0], edges[3] - edges[1]};
    if (rect.width > 0 && rect.height > 0) rects.push_back(rect);
  }
  return rects;
}

PushedPicture checked_picture(const saccade_frame& frame) {
  require(frame.memory == SACCADE_HOST || frame.memory == SACCADE_CUDA, kPush, "memory is no saccade_memory");
  if (frame.pts_ns < -kMostTime_ns || frame.pts_ns > kMostTime_ns) {
    refuse(kPush, fmt::format("pts_ns is {}; times are from {} to {}", frame.pts_ns, -kMostTime_ns, kMostTime_ns));
  }
  PushedPicture picture;
  for (std::size_t p = 0; p < picture.planes.size(); ++p) {
    picture.planes[p] = {static_cast<const std::uint8_t*>(frame.planes[p]),
                         static_cast<std::ptrdiff_t>(frame.pitches_bytes[p])};
  }
  picture.pts_ns = frame.pts_ns;
  if (frame.may_differ != nullptr) picture.may_differ = rects_of(frame.may_differ, frame.may_differ_count);
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
