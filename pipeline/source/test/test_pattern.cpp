#include "pipeline/source/test/test_pattern.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace saccade {
namespace {

constexpr int kPanStep = 2;
constexpr int kPanPeriod = 512;  // frames until the pan reverses
constexpr int kFadeHold = 4;
constexpr int kFadeSteps = 64;
constexpr int kCutEvery = 25;
constexpr std::uint8_t kBoxLuma = 220, kBoxCb = 90, kBoxCr = 180;

// splitmix64 (Steele, Lea, Flood 2014).
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

// Up and down again, one step at a time.
int triangle(std::int64_t step) {
  const auto phase = static_cast<int>(step % (2 * kFadeSteps));
  return phase <= kFadeSteps ? phase : 2 * kFadeSteps - phase;
}

// How far something has travelled that runs to and fro in [0, span].
int bounce(std::int64_t distance, int span) {
  if (span <= 0) return 0;
  const auto phase = static_cast<int>(distance % (2 * span));
  return phase <= span ? phase : 2 * span - phase;
}

}  // namespace

BoxRect box_at(const TestSpec& spec, std::int64_t index) {
  const int side = std::min({64, spec.width_px / 2, spec.height_px / 2}) & ~1;
  const int span_x = (spec.width_px - side) & ~1;
  const int span_y = (spec.height_px - side) & ~1;
  return {bounce(index * 6, span_x) & ~1, bounce(index * 4, span_y) & ~1, side};
}

bool repeats_previous(const TestSpec& spec, std::int64_t index) {
  if (index == 0) return false;
  switch (spec.pattern) {
    case TestPattern::kStatic:
      return true;
    case TestPattern::kBox: {
      const BoxRect now = box_at(spec, index), before = box_at(spec, index - 1);
      return now.x == before.x && now.y == before.y;
    }
    case TestPattern::kFade:
      return index % kFadeHold != 0;
    case TestPattern::kCut:
      return index % kCutEvery != 0;
    default:
      return false;
  }
}

// Waves and grain. Bit 0 is bit 1 of x, so that a shift by two pixels changes every sample.
TestPainter::TestPainter(const TestSpec& spec) : spec_(spec) {
  texture_width_ = spec.width_px + (spec.pattern == TestPattern::kPan ? kPanStep * kPanPeriod : 0);
  texture_.resize(static_cast<std::size_t>(texture_width_) * static_cast<std::size_t>(spec.height_px));
  const double phase = static_cast<double>(mix(spec.seed) & 1023) / 1024.0 * 6.28318530717958648;
  std::uint8_t* out = texture_.data();
  for (int y = 0; y < spec.height_px; ++y) {
    for (int x = 0; x < texture_width_; ++x) {
      const double wave = std::sin(x * 0.049087385 + phase) + std::cos(y * 0.031 + x * 0.012271846 + phase);
      const auto grain =
          static_cast<int>(mix(spec.seed ^ (static_cast<std::uint64_t>(y) << 32 | static_cast<std::uint64_t>(x))) & 15);
      const int code = 80 + static_cast<int>(std::lround(wave * 15.0)) + grain;
      *out++ = static_cast<std::uint8_t>((code & ~1) | ((x >> 1) & 1));
    }
  }
}

void TestPainter::paint(std::int64_t index, const I420Pool::Planes& planes) {
  for (std::size_t p = 1; p < 3; ++p) {
    const I420Pool::Plane& plane = planes[p];
    for (int y = 0; y < plane.height; ++y) {
      std::memset(plane.data + y * plane.pitch_bytes, p == 1 ? 120 : 136, static_cast<std::size_t>(plane.width));
    }
  }
  if (spec_.pattern == TestPattern::kNoise) {
    paint_noise(index, planes[0]);
  } else {
    paint_texture(index, planes);
  }
  if (spec_.pattern == TestPattern::kBox) paint_box(index, planes);
}

void TestPainter::paint_texture(std::int64_t index, const I420Pool::Planes& planes) {
  const I420Pool::Plane& luma = planes[0];
  const int shift = spec_.pattern == TestPattern::kPan ? bounce(index, kPanPeriod) * kPanStep : 0;
  const int add = spec_.pattern == TestPattern::kFade ? triangle(index / kFadeHold) : 0;
  const int flip = spec_.pattern == TestPattern::kCut && (index / kCutEvery) % 2 != 0 ? 0x3f : 0;
  for (int y = 0; y < luma.height; ++y) {
    const std::uint8_t* from = texture_.data() + static_cast<std::ptrdiff_t>(y) * texture_width_ + shift;
    std::uint8_t* to = luma.data + y * luma.pitch_bytes;
    if (add == 0 && flip == 0) {
      std::memcpy(to, from, static_cast<std::size_t>(luma.width));
      continue;
    }
    for (int x = 0; x < luma.width; ++x) to[x] = static_cast<std::uint8_t>((from[x] ^ flip) + add);
  }
}

void TestPainter::paint_noise(std::int64_t index, const I420Pool::Plane& luma) {
  std::uint64_t state = mix(spec_.seed ^ static_cast<std::uint64_t>(index) * 0x632be59bd9b4e019ULL) | 1;
  const auto parity = static_cast<std::uint8_t>(index & 1);
  for (int y = 0; y < luma.height; ++y) {
    std::uint8_t* to = luma.data + y * luma.pitch_bytes;
    for (int x = 0; x < luma.width; x += 8) {
      state ^= state << 13;  // xorshift64 (Marsaglia 2003)
      state ^= state >> 7;
      state ^= state << 17;
      for (int k = 0; k < 8 && x + k < luma.width; ++k) {
        const auto value = static_cast<std::uint8_t>(16 + ((state >> (8 * k)) & 0x7f));
        to[x + k] = static_cast<std::uint8_t>((value & 0xfe) | parity);
      }
    }
  }
}

void TestPainter::paint_box(std::int64_t index, const I420Pool::Planes& planes) {
  const BoxRect box = box_at(spec_, index);
  for (std::size_t p = 0; p < 3; ++p) {
    const int shift = p == 0 ? 0 : 1;
    const std::uint8_t value = p == 0 ? kBoxLuma : p == 1 ? kBoxCb : kBoxCr;
    for (int y = box.y >> shift; y < (box.y + box.size) >> shift; ++y) {
      std::memset(planes[p].data + y * planes[p].pitch_bytes + (box.x >> shift), value,
                  static_cast<std::size_t>(box.size >> shift));
    }
  }
}

}  // namespace saccade
