#include "kernels/picture/paint.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "kernels/picture/memory.h"
#include "kernels/shared/sampling.h"

namespace saccade {
namespace {

int scaled(int extent_px, double scale) {
  return std::max(1, static_cast<int>(std::lround(static_cast<double>(extent_px) * scale)));
}

std::uint8_t to_u8(float value) {
  return value > 0 ? static_cast<std::uint8_t>(std::min(value + 0.5f, 255.0f)) : std::uint8_t{0};  // 0: also NaN
}

// How far (x, y) lies from the mark's strokes, in pixels; `radius` is the ring's.
float distance_to_mark(float x, float y, float radius, bool in_flight) {
  const float from_centre = std::hypot(x, y);
  const float distance = std::fabs(from_centre - radius);
  if (in_flight) {
    const float circle = 0.5f + std::atan2(y, x) / (2.0f * std::numbers::pi_v<float>);  // eight dashes, half open
    const float phase = circle * 8.0f - std::floor(circle * 8.0f);
    return phase < 0.5f ? distance : std::numeric_limits<float>::max();
  }
  const float inner = radius * 0.6f;  // the cross leaves the centre free
  const float outer = radius * 1.5f;
  const float along = std::max(std::fabs(x), std::fabs(y));
  const float across = std::min(std::fabs(x), std::fabs(y));
  const float beyond = std::max({inner - along, along - outer, 0.0f});
  return std::min(distance, std::hypot(across, beyond));
}

}  // namespace

PictureSize displayed_size(int width_px, int height_px, double sar, double shrink) {
  return sar >= 1.0 ? PictureSize{scaled(width_px, sar * shrink), scaled(height_px, shrink)}
                    : PictureSize{scaled(width_px, shrink), scaled(height_px, shrink / sar)};
}

Painter::Painter(int width_px, int height_px, PictureSize canvas, int patch_size, bool interpolate)
    : patch_size_(patch_size),
      interpolate_(interpolate),
      scale_x_(static_cast<double>(canvas.width) / width_px),
      scale_y_(static_cast<double>(canvas.height) / height_px),
      image_(canvas.width, canvas.height),
      native_(static_cast<std::size_t>(image_.width) * static_cast<std::size_t>(image_.height)),
      line_(3 * static_cast<std::size_t>(patch_size)) {
  const auto in_frame = [](int pixel, double scale, int extent_px) {
    const double at = (static_cast<double>(pixel) + 0.5) / scale + 1e-3;
    return static_cast<std::size_t>(std::min(static_cast<int>(at), extent_px - 1));
  };
  for (int x = 0; x < image_.width; ++x) frame_columns_.push_back(in_frame(x, scale_x_, width_px));
  for (int y = 0; y < image_.height; ++y)
    frame_rows_.push_back(in_frame(y, scale_y_, height_px) * static_cast<std::size_t>(width_px));
}

Painter::Span Painter::make_taps(float centre_px, float pitch_px, double scale, int extent,
                                 std::vector<Tap>& taps) const {
  taps.clear();
  const double half_px = 0.5 * static_cast<double>(patch_size_) * static_cast<double>(pitch_px);
  const double last = static_cast<double>(patch_size_ - 1);
  // A canvas pixel belongs to the patch when its centre does; a hair of tolerance, for centres stored as float.
  const auto first_at = [&](double position_px) {
    return std::clamp(static_cast<int>(std::ceil(position_px * scale - 0.5 - 1e-3)), 0, extent);
  };
  const Span span{first_at(static_cast<double>(centre_px) - half_px),
                  first_at(static_cast<double>(centre_px) + half_px)};
  for (int pixel = span.begin; pixel < span.end; ++pixel) {
    const double position_px = (static_cast<double>(pixel) + 0.5) / scale;
    const double at = std::clamp(
        (position_px - static_cast<double>(centre_px)) / static_cast<double>(pitch_px) + 0.5 * last, 0.0, last);
    const int sample = static_cast<int>(interpolate_ ? at : at + 0.5);
    const int next = interpolate_ ? std::min(sample + 1, patch_size_ - 1) : sample;
    taps.push_back({sample, next, static_cast<float>(at - static_cast<double>(sample))});
  }
  return span;
}

void Painter::paint_patch(const Patch& patch, const float* samples, std::int32_t number) {
  const float pitch_px = shared::exp2(patch.lod);
  const Span across = make_taps(patch.x_px, pitch_px, scale_x_, image_.width, columns_);
  const Span down = make_taps(patch.y_px, pitch_px, scale_y_, image_.height, rows_);
  const auto size = static_cast<std::size_t>(patch_size_);
  const std::uint8_t native = patch.lod < kNativeLod ? 1 : 0;
  for (int y = down.begin; y < down.end; ++y) {
    const Tap& row = rows_[static_cast<std::size_t>(y - down.begin)];
    for (std::size_t channel = 0; channel < 3; ++channel) {
      const float* const plane = samples + channel * size * size;
      const float* const upper = plane + static_cast<std::size_t>(row.sample) * size;
      const float* const lower = plane + static_cast<std::size_t>(row.next) * size;
      float* const out = line_.data() + channel * size;
      for (std::size_t i = 0; i < size; ++i) out[i] = shared::lerp(upper[i], lower[i], row.weight);
    }
    std::uint8_t* out = image_.pixel(across.begin, y);
    std::uint8_t* mask = native_.data() + std::ptrdiff_t{y} * image_.width + across.begin;
    int x = across.begin;
    for (const Tap& column : columns_) {
      if (owns(number, x++, y)) {
        for (std::size_t channel = 0; channel < 3; ++channel) {
          const float* const in = line_.data() + channel * size;
          out[channel] = to_u8(shared::lerp(in[column.sample], in[column.next], column.weight));
        }
        *mask = native;
      }
      out += 3;
      ++mask;
    }
  }
}

void Painter::begin(std::span<const std::int32_t> owner) {
  owner_ = owner;
  if (owner.empty()) {
    std::fill(image_.data.begin(), image_.data.end(), kUnseenGrey);
    std::fill(native_.begin(), native_.end(), std::uint8_t{0});
    return;
  }
  for (int y = 0; y < image_.height; ++y) {
    for (int x = 0; x < image_.width; ++x) {
      if (!owns(PictureMemory::kUncovered, x, y)) continue;
      std::fill_n(image_.pixel(x, y), 3, kUnseenGrey);
      native_[static_cast<std::size_t>(std::ptrdiff_t{y} * image_.width + x)] = 0;
    }
  }
}

const RgbImage& Painter::paint(std::span<const Patch> patches, std::span<const float> samples,
                               std::span<const std::int32_t> owner) {
  begin(owner);
  order_.resize(patches.size());
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
    return patches[a].lod != patches[b].lod ? patches[a].lod > patches[b].lod : a < b;
  });
  const std::size_t stride = 3 * static_cast<std::size_t>(patch_size_) * static_cast<std::size_t>(patch_size_);
  for (const std::size_t n : order_) {
    if (patches[n].coverage > 0) paint_patch(patches[n], samples.data() + n * stride, static_cast<std::int32_t>(n));
  }
  return image_;
}

void mark_fixation(RgbImage& image, float fix_u, float fix_v, bool in_flight) {
  constexpr float kHalfStroke = 1.0f;
  constexpr float kOutline = 1.5f;
  const float x = fix_u * static_cast<float>(image.width);
  const float y = fix_v * static_cast<float>(image.height);
  const float radius = std::max(0.02f * static_cast<float>(std::min(image.width, image.height)), 7.0f);
  const int reach = static_cast<int>(radius * 1.5f + kHalfStroke + kOutline) + 1;
  const auto clip = [](float centre, int offset, int extent) {
    return std::clamp(static_cast<int>(centre) + offset, 0, extent);
  };
  for (int py = clip(y, -reach, image.height); py < clip(y, reach + 1, image.height); ++py) {
    for (int px = clip(x, -reach, image.width); px < clip(x, reach + 1, image.width); ++px) {
      const float distance =
          distance_to_mark(static_cast<float>(px) + 0.5f - x, static_cast<float>(py) + 0.5f - y, radius, in_flight);
      if (distance > kHalfStroke + kOutline) continue;
      std::fill_n(image.pixel(px, py), 3, static_cast<std::uint8_t>(distance <= kHalfStroke ? 255 : 0));
    }
  }
}

}  // namespace saccade
