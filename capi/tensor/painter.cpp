// Pictures of patches, for callers that hold samples.
#include <fmt/format.h>
#include <saccade/picture.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "capi/error.h"
#include "capi/structs.h"
#include "kernels/picture/memory.h"
#include "kernels/picture/paint.h"
#include "kernels/picture/samples.h"

// Host memory alone: it serves a child of fork(), too.
struct saccade_painter {
  saccade_painter(const saccade_painter_settings& asked, saccade::PictureSize canvas)
      : settings(asked),
        painter(asked.width_px, asked.height_px, canvas, asked.patch_size, asked.no_interpolation == 0) {
    if (settings.memory != 0) memory.emplace(settings.width_px, settings.height_px, settings.patch_size);
  }

  saccade_painter_settings settings;
  saccade::Painter painter;
  std::optional<saccade::PictureMemory> memory;
  std::vector<saccade::Patch> patches;
  std::vector<float> codes;
};

namespace saccade::capi {
namespace {

constexpr std::size_t kSettingsBeforeInterpolation = offsetof(saccade_painter_settings, no_interpolation);
constexpr std::int32_t kMostSide = 1 << 16;  // of a picture
constexpr std::int32_t kMostPatchSize = 1024;

PictureSize canvas_of(const char* function, const saccade_painter_settings& settings) {
  const auto in_range = [](std::int32_t value, std::int32_t most) { return value >= 1 && value <= most; };
  require(in_range(settings.width_px, kMostSide) && in_range(settings.height_px, kMostSide), function,
          "a side of the frame is not 1 to 65,536 pixels");
  require(in_range(settings.patch_size, kMostPatchSize), function, "patch_size is not 1 to 1,024");
  require(settings.picture_width_px >= 0, function, "picture_width_px is below 0");
  require(settings.sar == 0 || (std::isfinite(settings.sar) && settings.sar > 0), function,
          "sar is not a number above 0");
  PictureSize shown = displayed_size(settings.width_px, settings.height_px, settings.sar == 0 ? 1.0 : settings.sar);
  if (settings.picture_width_px > 0) {
    const double rows = static_cast<double>(shown.height) * settings.picture_width_px / shown.width;
    shown = {settings.picture_width_px, static_cast<int>(std::clamp(std::round(rows), 1.0, 1e9))};
  }
  require(in_range(shown.width, kMostSide) && in_range(shown.height, kMostSide), function,
          "a side of the picture is over 65,536 pixels");
  return shown;
}

SampleFormat format_of(const char* function, const saccade_patch_samples& samples) {
  require(samples.dtype >= SACCADE_U8 && samples.dtype <= SACCADE_F32, function, "there is no such dtype");
  SampleFormat format;
  format.type = static_cast<SampleType>(samples.dtype);
  for (std::size_t c = 0; c < 3; ++c) {
    format.mean[c] = samples.mean[c];
    format.inv_std[c] = samples.std[c] == 0 ? 1.0f : 1.0f / samples.std[c];
  }
  return format;
}

// The samples as the painter takes them, checked.
void take(const char* function, saccade_painter& painter, const saccade_patch_samples& samples) {
  require(samples.count >= 0, function, "count is below 0");
  require(samples.count == 0 || (samples.patches != nullptr && samples.geometry != nullptr), function,
          "patches or geometry is NULL");
  const SampleFormat format = format_of(function, samples);
  const auto count = static_cast<std::size_t>(samples.count);
  const std::span geometry(static_cast<const std::byte*>(samples.geometry), count * 4 * sizeof(float));
  require(read_geometry(geometry, painter.settings.width_px, painter.settings.height_px, painter.patches), function,
          "geometry has a place or a level that no lattice gives");
  const int size = painter.settings.patch_size;
  const std::span bytes(static_cast<const std::byte*>(samples.patches), PatchBatch::bytes_of(count, size, format));
  to_codes(bytes, size, format, painter.codes);
}

}  // namespace
}  // namespace saccade::capi

using namespace saccade::capi;

saccade_status saccade_painter_new(const saccade_painter_settings* settings, saccade_painter** out) {
  constexpr const char* kFunction = "saccade_painter_new";
  return guarded([&] {
    require(out != nullptr, kFunction, "out is NULL");
    *out = nullptr;
    const saccade_painter_settings asked = read(kFunction, settings, {kSettingsBeforeInterpolation});
    *out = std::make_unique<saccade_painter>(asked, canvas_of(kFunction, asked)).release();
    return SACCADE_OK;
  });
}

void saccade_painter_free(saccade_painter* painter) { delete painter; }

void saccade_painter_forget(saccade_painter* painter) {
  if (painter != nullptr && painter->memory) painter->memory->forget();
}

saccade_status saccade_painter_get_size(const saccade_painter* painter, std::int32_t* width, std::int32_t* height) {
  constexpr const char* kFunction = "saccade_painter_get_size";
  return guarded([&] {
    require(painter != nullptr && width != nullptr && height != nullptr, kFunction, "an argument is NULL");
    *width = painter->painter.image().width;
    *height = painter->painter.image().height;
    return SACCADE_OK;
  });
}

saccade_status saccade_painter_paint(saccade_painter* painter, const saccade_patch_samples* samples, std::uint8_t* rgb,
                                     std::size_t rgb_bytes) {
  constexpr const char* kFunction = "saccade_painter_paint";
  return guarded([&] {
    require(painter != nullptr && rgb != nullptr, kFunction, "painter or rgb is NULL");
    const std::vector<std::uint8_t>& picture = painter->painter.image().data;
    if (rgb_bytes != picture.size())
      refuse(kFunction, fmt::format("rgb_bytes is {}; the picture has {}", rgb_bytes, picture.size()));
    take(kFunction, *painter, read(kFunction, samples));
    std::span<const std::int32_t> owner;
    if (painter->memory) {
      owner = painter->memory->add(painter->patches, painter->codes);
      require(!owner.empty(), kFunction,
              "with memory: the samples lie between texels, so that nothing tells what stayed the same; sample with "
              "lattice nested, or paint without memory");
    }
    painter->painter.paint(painter->patches, painter->codes, owner);
    std::copy(picture.begin(), picture.end(), rgb);
    return SACCADE_OK;
  });
}

saccade_status saccade_draw_fixation(std::uint8_t* rgb, std::int32_t width, std::int32_t height, float u, float v,
                                     std::int32_t in_flight) {
  constexpr const char* kFunction = "saccade_draw_fixation";
  return guarded([&] {
    require(rgb != nullptr && width > 0 && height > 0, kFunction, "rgb is NULL, or a side is not above 0");
    require(u >= 0 && u <= 1 && v >= 0 && v <= 1, kFunction, "u or v is not in 0 to 1");
    saccade::RgbImage image(width, height);
    std::copy_n(rgb, image.data.size(), image.data.begin());
    saccade::mark_fixation(image, u, v, in_flight != 0);
    std::copy(image.data.begin(), image.data.end(), rgb);
    return SACCADE_OK;
  });
}
