// Lattice adaptive sends the same squares, and the same bytes of them, from every backend.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <vector>

#include "pipeline/backend/backend.h"
#include "pipeline/gaze/allocate/allocator.h"
#include "pipeline/run/pipeline.h"
#include "tests/kernels/test_frame.h"
#include "tests/support/required.h"

namespace saccade::test {
namespace {

struct Sent {
  std::vector<Patch> patches;
  std::vector<std::byte> bytes;
  std::vector<std::uint8_t> changed;
};

struct Case {
  PixelLayout layout;
  int width, height;
  AdaptiveShape shape;
};

// Ten looks at a picture that changes in part, of which the receiver loses a quarter.
std::vector<Sent> sent_by(Backend backend, const Case& of) {
  PipelineConfig config;
  config.backend = backend;
  config.lattice.shape = of.shape;
  config.emit.kind = EmitPolicy::Kind::kFrames;
  config.scanpath.policy = FixationPolicy::kRaster;
  Pipeline pipeline(config);
  std::mt19937 rng(28);
  TestFrame frame(of.layout, of.width, of.height, usual_shift(of.layout));
  frame.randomize(rng);
  std::vector<Sent> all;
  for (int look = 0; look < 10; ++look) {
    FrameView view = frame.view();
    view.pts_ns = look * std::int64_t{100'000'000};
    pipeline.prepare(view);
    Emission emission;
    EXPECT_TRUE(pipeline.step(view, emission).emitted);
    emission.batch.wait();
    const auto bytes = emission.batch.bytes();
    all.push_back({emission.plan.patches, {bytes.begin(), bytes.end()}, emission.changed});
    disturb(frame, rng, 1 + look % 4 * 5);
    if (look == 4) pipeline.forget({.left = 0, .top = 0, .right = 0.5f, .bottom = 0.5f});
  }
  return all;
}

void expect_as_cpu(Backend backend) {
  const std::string why = why_unavailable(backend);
  if (!why.empty()) return testing::skip_or_fail(name(backend), why);
  std::vector<Case> cases;
  for (const PixelLayout layout : kLayouts) {
    cases.push_back({layout, 333, 211, {.tokens = 40, .eye = 0.5}});
  }
  cases.push_back({PixelLayout::kNv12, 200, 120, {.tokens = 200, .target_psnr = 30.0}});
  cases.push_back({PixelLayout::kRgba8, 97, 64, {.tokens = 9, .context = ContextLength{.value = 20}}});
  for (const Case& of : cases) {
    SCOPED_TRACE(::testing::Message() << name(of.layout) << " " << of.width << "x" << of.height);
    const std::vector<Sent> truth = sent_by(Backend::kCpu, of), sent = sent_by(backend, of);
    for (std::size_t look = 0; look < truth.size(); ++look) {
      ASSERT_EQ(sent[look].patches, truth[look].patches) << "look " << look;
      ASSERT_EQ(sent[look].bytes, truth[look].bytes) << "look " << look;
      ASSERT_EQ(sent[look].changed, truth[look].changed) << "look " << look;
    }
  }
}

TEST(AdaptiveBackends, Gl_SendsAsCpu) { expect_as_cpu(Backend::kGl); }
TEST(AdaptiveBackends, Cuda_SendsAsCpu) { expect_as_cpu(Backend::kCuda); }

}  // namespace
}  // namespace saccade::test
