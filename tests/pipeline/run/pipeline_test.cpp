// The stages together, on sources whose damage is known.
#include "pipeline/run/pipeline.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/cpu/pyramid.h"
#include "pipeline/error.h"
#include "pipeline/source/open.h"
#include "pipeline/source/test/test_source.h"
#include "tests/support/allocation_counter.h"

namespace saccade::test {
namespace {

std::unique_ptr<FrameSource> open(const std::string& uri) {
  SourceConfig config;
  config.uri = uri;
  return open_source(config);
}

PipelineConfig every_frame() {
  PipelineConfig config;
  config.lattice.shape = PatchBudget{.patches = 300, .m0 = {}};
  config.emit = {EmitPolicy::Kind::kFrames, 1};
  return config;
}

TEST(Pipeline, AnyPattern_DamagesWhatItChanges) {
  for (const char* uri : {"test://static?size=320x200&frames=30", "test://box?size=320x200&frames=30",
                          "test://fade?size=320x200&frames=30", "test://cut?size=320x200&frames=60",
                          "test://pan?size=320x200&frames=10", "test://noise?size=161x121&frames=10"}) {
    SCOPED_TRACE(uri);
    const TestSpec spec = parse_test_uri(uri);
    const auto source = open(uri);
    Pipeline pipeline(every_frame());
    Emission emission;
    Frame frame;
    for (std::int64_t i = 0; source->next(frame) == ReadStatus::kOk; ++i) {
      const StepResult result = pipeline.step(frame.view(), emission);
      const Damage expected = expected_damage(spec, i);
      ASSERT_EQ(result.damaged_tiles, expected.count()) << "frame " << i;
      for (int t = 0; t < expected.grid().count(); ++t) {
        ASSERT_EQ(pipeline.damage().test(t), expected.test(t)) << i << ' ' << t;
      }
    }
    EXPECT_EQ(pipeline.counters().frames, spec.frames);
    EXPECT_EQ(pipeline.counters().emissions, spec.frames);
  }
}

// A source that says where its frames may differ is compared there alone, and only with the very next frame.
TEST(Pipeline, FramesThatMayDifferInPlaces_AreComparedThere) {
  std::vector<Frame> frames(5);
  const auto source = open("test://box?size=320x200&frames=30");
  for (Frame& frame : frames) ASSERT_EQ(source->next(frame), ReadStatus::kOk);
  const auto differ = [&](std::size_t i, std::int64_t sequence, std::vector<PixelRect> rects) {
    frames[i].place(static_cast<std::int64_t>(sequence) * 40'000'000, sequence, 0);
    frames[i].differs_in(std::move(rects));
  };
  for (const bool staged : {false, true}) {
    PipelineConfig config = every_frame();
    config.staged = staged;
    Pipeline known(config), whole(config);
    Emission emission;
    const auto damaged = [&](Pipeline& pipeline, std::size_t i) {
      return pipeline.step(frames[i].view(), emission).damaged_tiles;
    };
    differ(0, 0, {});
    EXPECT_EQ(damaged(known, 0), 20 * 13) << "the first frame, whatever its source says";
    EXPECT_EQ(damaged(whole, 0), 20 * 13);
    differ(1, 1, {});
    EXPECT_EQ(damaged(known, 1), 0) << "its source vouches for it";
    EXPECT_EQ(known.damage().count(), 0);
    EXPECT_EQ(known.counters().damaged_tiles, 20 * 13);
    FrameView all = frames[2].view();
    all.may_differ.reset();
    const int changed = whole.step(all, emission).damaged_tiles;
    ASSERT_GT(changed, 0);
    differ(2, 3, {});
    EXPECT_EQ(damaged(known, 2), changed) << "frame 2 never came, so what its source knows is of no use";
    differ(3, 4, {{0, 0, 320, 200}});
    all = frames[3].view();
    all.may_differ.reset();
    EXPECT_EQ(damaged(known, 3), whole.step(all, emission).damaged_tiles);
    known.reset();
    differ(4, 5, {{-8, -8, 8, 8}});
    EXPECT_EQ(damaged(known, 4), 20 * 13) << "after a seek nothing is known";
  }
}

TEST(Pipeline, EmitPolicy_DecidesHowManyEmissions) {
  // 3 s at 30 frames/s: fixations 0 .. 11 begin, each lands before the next one begins.
  const auto count = [](EmitPolicy emit) {
    PipelineConfig config = every_frame();
    config.emit = emit;
    Pipeline pipeline(config);
    Emission emission;
    Frame frame;
    const auto source = open("test://box?size=320x200&frames=90");
    while (source->next(frame) == ReadStatus::kOk) pipeline.step(frame.view(), emission);
    return pipeline.counters().emissions;
  };
  EXPECT_EQ(count({EmitPolicy::Kind::kFixation, 1}), 12);
  EXPECT_EQ(count({EmitPolicy::Kind::kFrames, 1}), 90);
  EXPECT_EQ(count({EmitPolicy::Kind::kFrames, 7}), 13);  // frames 0, 7 .. 84
}

TEST(Pipeline, UnchangedPatches_AreTheSameBytes) {
  PipelineConfig config = every_frame();
  config.scanpath.policy = FixationPolicy::kCenter;
  Pipeline pipeline(config);
  Emission now;
  Emission before;
  Frame frame;
  const auto source = open("test://box?size=320x200&frames=20");
  std::int64_t unchanged = 0;
  for (int i = 0; source->next(frame) == ReadStatus::kOk; ++i) {
    pipeline.step(frame.view(), now);
    for (std::size_t n = 0; n < now.changed.size(); ++n) {
      if (i == 0) {
        EXPECT_EQ(now.changed[n], 1);
        continue;
      }
      if (now.changed[n] != 0) continue;
      ++unchanged;
      const auto a = std::as_const(now.batch).patch(n);
      const auto b = std::as_const(before.batch).patch(n);
      ASSERT_EQ(std::memcmp(a.data(), b.data(), a.size()), 0) << "frame " << i << " patch " << n;
    }
    std::swap(now, before);
  }
  EXPECT_GT(unchanged, 0);
}

// A policy on a lattice, with every format of the texture.
struct Steps {
  const char* uri;
  FixationPolicy policy;
  decltype(LatticeConfig::shape) shape;
};

class PipelineSteps : public testing::TestWithParam<Steps> {};

TEST_P(PipelineSteps, AfterTheFirst_AllocateNothing) {
  const auto source = open(GetParam().uri);
  PipelineConfig config = every_frame();
  config.scanpath.policy = GetParam().policy;
  config.lattice.shape = GetParam().shape;
  Pipeline pipeline(config);
  std::vector<Frame> frames;
  for (Frame frame; source->next(frame) == ReadStatus::kOk; frame = Frame()) frames.push_back(std::move(frame));
  ASSERT_EQ(frames.size(), 120U);
  pipeline.prepare(frames[0].view());
  Emission emission = pipeline.make_emission();
  pipeline.step(frames[0].view(), emission);
  const long before = allocation_count();
  for (std::size_t i = 1; i < frames.size(); ++i) pipeline.step(frames[i].view(), emission);
  EXPECT_EQ(allocation_count(), before);
  const auto counted = std::make_unique<int>();
  EXPECT_GT(allocation_count(), before) << "the counter counts";
}

constexpr PatchBudget kNested{.patches = 300, .m0 = {}};
constexpr const char* kBox = "test://box?size=640x360&frames=120";
INSTANTIATE_TEST_SUITE_P(
    Pipeline, PipelineSteps,
    testing::Values(Steps{kBox, FixationPolicy::kNovelty, kNested}, Steps{kBox, FixationPolicy::kSaliency, kNested},
                    Steps{kBox, FixationPolicy::kRandom, GridShape{}},
                    Steps{kBox, FixationPolicy::kRaster, UniformShape{}},
                    Steps{"lavfi:testsrc2=s=333x222:r=30:d=4,format=yuv420p10", FixationPolicy::kSaliency, kNested},
                    Steps{"lavfi:testsrc2=s=333x222:r=30:d=4,format=rgba", FixationPolicy::kNovelty, kNested}));

TEST(Pipeline, SameFrameAgain_CountsAsNone) {
  const auto source = open("test://box?size=320x200&frames=10");
  PipelineConfig config = every_frame();
  Pipeline pipeline(config);
  Emission emission;
  Frame frame;
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(source->next(frame), ReadStatus::kOk);
    pipeline.step(frame.view(), emission);
  }
  const PipelineCounters before = pipeline.counters();
  config.levels = 3;
  pipeline.configure(config);
  EXPECT_TRUE(pipeline.step(frame.view(), emission, nullptr, true).emitted);
  EXPECT_EQ(pipeline.counters().frames, 3);
  EXPECT_EQ(pipeline.counters().emissions, before.emissions);
  EXPECT_EQ(pipeline.counters().tiles, before.tiles);
  EXPECT_EQ(pipeline.counters().bytes_uploaded, before.bytes_uploaded);
  EXPECT_EQ(pipeline.stage(Stage::kFrame).count(), 3);
  ASSERT_EQ(source->next(frame), ReadStatus::kOk);
  pipeline.step(frame.view(), emission);
  EXPECT_EQ(pipeline.counters().frames, 4);
}

TEST(Pipeline, Configure_RedoesOnlyWhatItNeeds) {
  const auto source = open("test://static?size=320x200&frames=10");
  PipelineConfig config = every_frame();
  Pipeline pipeline(config);
  Emission emission;
  Frame frame;
  const auto step = [&] {
    EXPECT_EQ(source->next(frame), ReadStatus::kOk);
    return pipeline.step(frame.view(), emission);
  };
  step();
  EXPECT_EQ(pipeline.configure(config), Redone{});

  config.diff.threshold = 3;
  EXPECT_EQ(pipeline.configure(config), (Redone{.differ = true}));
  EXPECT_EQ(step().damaged_tiles, 0);

  config.lattice.shape = GridShape{.patches = 12, .acuity = {}};
  EXPECT_EQ(pipeline.configure(config), (Redone{.lattice = true}));
  EXPECT_EQ(step().damaged_tiles, 0);
  EXPECT_EQ(emission.batch.count(), 12U);

  config.scanpath.seed = 7;
  EXPECT_EQ(pipeline.configure(config), (Redone{.scanpath = true}));
  EXPECT_EQ(step().gaze.fixation, 0);

  config.levels = 5;
  EXPECT_EQ(pipeline.configure(config), (Redone{.lattice = true, .scanpath = true, .texture = true}));
  EXPECT_EQ(step().damaged_tiles, 20 * 13);
  EXPECT_EQ(pipeline.texture().layout().levels, 5);

  PipelineConfig impossible = config;
  impossible.lattice.shape = PatchBudget{.patches = 1, .m0 = {}};
  EXPECT_THROW(pipeline.configure(impossible), UsageError);
  EXPECT_EQ(lattice_kind(pipeline.config().lattice), LatticeKind::kGrid);
  EXPECT_EQ(step().damaged_tiles, 0);
}

TEST(Pipeline, Reset_DamagesEverythingAndRestartsTheClock) {
  const auto source = open("test://static?size=320x200&frames=40");
  Pipeline pipeline(every_frame());
  Emission emission;
  Frame frame;
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(source->next(frame), ReadStatus::kOk);
    pipeline.step(frame.view(), emission);
  }
  pipeline.reset();
  ASSERT_EQ(source->next(frame), ReadStatus::kOk);
  const StepResult result = pipeline.step(frame.view(), emission);
  EXPECT_EQ(result.damaged_tiles, 20 * 13);
  EXPECT_TRUE(result.gaze.landed);
}

TEST(Pipeline, NewSizeOrFormat_MakesANewTexture) {
  Pipeline pipeline(every_frame());
  Emission emission;
  Frame frame;
  for (const char* uri : {"test://box?size=320x200&frames=2", "test://box?size=400x300&frames=2"}) {
    const auto source = open(uri);
    ASSERT_EQ(source->next(frame), ReadStatus::kOk);
    const StepResult result = pipeline.step(frame.view(), emission);
    EXPECT_EQ(result.damaged_tiles, pipeline.damage().grid().count());
    EXPECT_EQ(emission.batch.count(), pipeline.lattice().patch_count());
  }
  EXPECT_EQ(pipeline.counters().rebuilds, 1);
}

}  // namespace
}  // namespace saccade::test
