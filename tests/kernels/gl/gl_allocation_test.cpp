// A steady frame of the GL path allocates nothing by this program's operator new. What the driver takes is its own.
#include <gtest/gtest.h>

#include "kernels/cpu/differ.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/gl_fixture.h"

namespace saccade {
namespace {

using testing::HostFrame;

constexpr unsigned kSeed = 20261128;
constexpr int kWidth = 333, kHeight = 211;

struct Way {
  GlWork work;
  UploadPath path;
};

class GlAllocation : public testing::GlTest, public ::testing::WithParamInterface<Way> {};

INSTANTIATE_TEST_SUITE_P(Ways, GlAllocation,
                         ::testing::Values(Way{GlWork::kCompute, UploadPath::kDirect},
                                           Way{GlWork::kCompute, UploadPath::kPbo},
                                           Way{GlWork::kHost, UploadPath::kDirect},
                                           Way{GlWork::kHost, UploadPath::kPbo}),
                         [](const auto& of) {
                           return std::string(of.param.work == GlWork::kHost ? "Host" : "Compute") +
                                  (of.param.path == UploadPath::kPbo ? "Pbo" : "Direct");
                         });

// What a frame does.
struct FrameLoop {
  GlTexture texture;
  PatchPlan plan;
  PatchBatch batch;

  FrameLoop(gl::Context& context, PixelLayout pixels, Way way)
      : texture(context, make_pyramid_layout(kWidth, kHeight, texture_format(pixels)),
                {way.work, way.path, UploadCost{1.0, 1e-3}, {}}),
        batch(3, 7, {}) {
    plan.patch_size = 7;  // 49 samples: the GPU's rows are padded
    plan.patches = {{50, 50, 0, 1}, {100, 75, 2.5f, 1}, {190, 140, 6, 0.3f}};
  }

  void run(const HostFrame& frame) {
    const FrameView view = frame.view();
    texture.update(view);
    texture.sample(plan, view.color, batch);
  }
};

TEST_P(GlAllocation, PerFrame_IsNone) {
  for (const PixelLayout pixels : {PixelLayout::kI420, PixelLayout::kP016, PixelLayout::kRgba8}) {
    SCOPED_TRACE(::testing::Message() << name(pixels) << " seed " << kSeed);
    std::mt19937 random(kSeed);
    HostFrame blank(pixels, kWidth, kHeight);
    std::vector<HostFrame> frames(4, blank);
    for (HostFrame& frame : frames) frame.randomize(random);
    for (std::size_t n = 1; n < frames.size(); ++n) {  // a few tiles away from the one before, then about half
      frames[n] = frames[n - 1];
      frames[n].disturb(random, n == 1 ? 60 : 8);
    }
    FrameLoop loop(context(), pixels, GetParam());
    const auto round = [&] {
      loop.run(blank);  // from here to the first: everything
      for (const HostFrame& frame : frames) loop.run(frame);
      loop.run(frames.back());  // nothing
    };
    round();
    round();
    const long before = test::allocation_count();
    round();
    EXPECT_EQ(test::allocation_count(), before);
    EXPECT_GT(loop.texture.last_upload().full_bytes, 0);
  }
}

// Else the test above could not fail.
TEST(GlAllocation, Counter_Counts) {
  const long before = test::allocation_count();
  const std::vector<int> some(100);
  EXPECT_EQ(test::allocation_count(), before + 1) << some.size();
}

}  // namespace
}  // namespace saccade
