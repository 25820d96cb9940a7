// test://NAME: procedural video whose damage is known exactly.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "kernels/damage.h"
#include "pipeline/source/frame/frame_source.h"

namespace saccade {

enum class TestPattern : std::uint8_t { kStatic, kBox, kNoise, kPan, kFade, kCut };

// Note [Test patterns]
// Against frame i - 1, frame i changes exactly these 16x16 tiles (frame 0 changes all):
// - static: none.
// - box: those that the pixels covered by the box in one of the two frames alone touch. A plain 64x64 box (smaller on
//   small pictures) travels over a still texture, which nowhere has the box's luma.
// - noise, pan: all; every luma sample changes (its lowest bit alternates; the texture moves 2 pixels a frame).
// - fade: all on every 4th frame, by one code value; none on the others.
// - cut: all on every 25th frame; none on the others.
struct TestSpec {
  TestPattern pattern = TestPattern::kStatic;
  int width_px = 1280;
  int height_px = 720;
  int rate_num = 30;
  int rate_den = 1;
  std::int64_t frames = 300;
  std::uint64_t seed = 0;
};

// test://NAME[?size=WxH&rate=R&frames=N&seed=S], R a number or N/D. Throws UsageError.
TestSpec parse_test_uri(const std::string& uri);

// The tiles that frame `index` changes against frame `index` - 1. No energies.
Damage expected_damage(const TestSpec& spec, std::int64_t index);

// start_s, duration_s, max_frames and loops hold; filters don't (UsageError).
std::unique_ptr<FrameSource> open_test_source(const SourceConfig& config);

}  // namespace saccade
