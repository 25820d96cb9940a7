// A session against the loop it replaces, written by hand: source, queue, decode thread, pipeline. Byte for byte.
#include "pipeline/run/session.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "pipeline/source/open.h"

namespace saccade::test {
namespace {

// What is kept of an emission: everything but times by the clock.
struct Record {
  std::vector<std::byte> patches;
  std::vector<Patch> plan;
  std::vector<std::uint8_t> changed;
  std::int64_t frame = 0, pts_ns = 0;
  float fix_u = 0, fix_v = 0;
  bool in_flight = false;
  std::int32_t damaged_tiles = 0, gaps = 0;
  bool operator==(const Record&) const = default;
};

Record record_of(const Emission& e) {
  e.batch.wait();
  const auto bytes = e.batch.bytes();
  return {{bytes.begin(), bytes.end()},
          e.plan.patches,
          e.changed,
          e.frame,
          e.pts_ns,
          e.fix_u,
          e.fix_v,
          e.in_flight,
          e.damaged_tiles,
          e.gaps};
}

using Records = std::vector<Record>;

// The loop of dump before there were sessions.
Records by_hand(const SessionConfig& config) {
  const auto source = open_source(config.source);
  FrameQueue queue(4, QueuePolicy::kBlock);
  Pipeline pipeline(config.pipeline);
  DecodeThread decoder(*source, queue);
  Records records;
  Emission emission;
  for (Frame frame; queue.pop(frame); frame = Frame()) {
    if (pipeline.step(frame.view(), emission).emitted) records.push_back(record_of(emission));
    source->recycle(std::move(frame));
  }
  decoder.join();
  return records;
}

// On to the next emission: everything but kFrame.
SessionStatus next_emission(Session& session, Emission& out) {
  SessionStatus status = SessionStatus::kFrame;
  while (status == SessionStatus::kFrame) status = session.next(out).status;
  return status;
}

Records rest_of(Session& session) {
  Records records;
  Emission emission;
  while (next_emission(session, emission) == SessionStatus::kEmission) records.push_back(record_of(emission));
  return records;
}

Records by_session(const SessionConfig& config) {
  Session session(config);
  return rest_of(session);
}

SessionConfig every_frame(const std::string& uri) {
  SessionConfig config;
  config.source.uri = uri;
  config.pipeline.lattice.shape = PatchBudget{100, {}};
  config.pipeline.emit = {EmitPolicy::Kind::kFrames, 1};
  return config;
}

SessionConfig box(std::uint64_t seed = 0) {
  return every_frame("test://box?size=320x200&rate=30&frames=60&seed=" + std::to_string(seed));
}

TEST(Session, AnyInput_EqualsTheLoopByHand) {
  for (const char* uri : {"test://static?size=160x90&frames=20", "test://box?size=320x200&frames=60",
                          "test://noise?size=161x121&frames=20", "test://fade?size=320x200&frames=30",
                          "test://cut?size=320x200&frames=60", "lavfi:testsrc2=size=192x108:rate=25:duration=1"}) {
    SCOPED_TRACE(uri);
    const Records truth = by_hand(every_frame(uri));
    ASSERT_GE(truth.size(), 20U);
    EXPECT_EQ(by_session(every_frame(uri)), truth);
  }
}

TEST(Session, AnySetting_EqualsTheLoopByHand) {
  std::vector<SessionConfig> configs(5, box());
  configs[0].pipeline.emit = {EmitPolicy::Kind::kFixation, 1};
  configs[1].pipeline.emit = {EmitPolicy::Kind::kFrames, 7};
  configs[2].pipeline.scanpath.policy = FixationPolicy::kRandom;
  configs[3].pipeline.staged = true;
  configs[4].source.start_s = 0.5;
  configs[4].source.loops = 2;
  for (std::size_t i = 0; i < configs.size(); ++i) {
    SCOPED_TRACE(i);
    const Records truth = by_hand(configs[i]);
    ASSERT_GE(truth.size(), 5U);
    EXPECT_EQ(by_session(configs[i]), truth);
  }
}

TEST(Session, Start_KnowsTheSizesBeforeTheFirstStep) {
  Session session(box());
  session.start();
  EXPECT_EQ(session.pipeline().counters().frames, 0);
  EXPECT_GT(session.pipeline().lattice().patch_count(), 0U);
  const Emission emission = session.make_emission();
  EXPECT_EQ(emission.changed.size(), session.pipeline().lattice().patch_count());
  session.start();  // and once is enough
  EXPECT_EQ(rest_of(session), by_hand(box()));
}

TEST(Session, Poll_GivesTheSameFramesWithoutWaiting) {
  Session session(box());
  Records records;
  Emission emission;
  SessionStep step;
  while ((step = session.poll(emission)).status != SessionStatus::kEnd) {
    if (step.status == SessionStatus::kEmission) records.push_back(record_of(emission));
    if (step.status == SessionStatus::kLater) std::this_thread::yield();
  }
  EXPECT_EQ(records, by_hand(box()));
}

TEST(Session, Next_TellsWhatEachFrameCameTo) {
  SessionConfig config = box();
  config.pipeline.emit = {EmitPolicy::Kind::kFrames, 2};
  Session session(config);
  Emission emission;
  for (std::int64_t i = 0; i < 60; ++i) {
    const SessionStep step = session.next(emission);
    ASSERT_EQ(step.status, i % 2 == 0 ? SessionStatus::kEmission : SessionStatus::kFrame);
    EXPECT_EQ(step.frame, i);
    EXPECT_EQ(step.pts_ns, i * 1'000'000'000 / 30 + (i % 3 == 2 ? 1 : 0)) << i;
    EXPECT_FALSE(step.after_gap);
  }
  EXPECT_EQ(session.next(emission).status, SessionStatus::kEnd);
  EXPECT_EQ(session.next(emission).status, SessionStatus::kEnd);
}

TEST(Session, Facts_AddUpAtTheEnd) {
  Session session(box());
  rest_of(session);
  const SessionFacts facts = session.facts();
  EXPECT_EQ(facts.source.frames, 60);
  EXPECT_EQ(facts.pipeline.frames, 60);
  EXPECT_EQ(facts.queue.pushed, 60);
  EXPECT_EQ(facts.queue.popped, 60);
  EXPECT_EQ(facts.patches, session.pipeline().lattice().patch_count());
  const std::vector<Stage> stages{Stage::kDecode,   Stage::kWait,   Stage::kUpdate,
                                  Stage::kScanpath, Stage::kSample, Stage::kFrame};
  EXPECT_EQ(facts.stages, stages);
  for (const Stage stage : stages) EXPECT_EQ(facts.time(stage).count(), 60) << name(stage);
  EXPECT_NEAR(facts.media_s, 59.0 / 30, 1e-6);
  EXPECT_TRUE(facts.fault.what.empty());
  EXPECT_EQ(facts.policy, QueuePolicy::kBlock);
}

TEST(Session, TwoAtOnce_EqualTheirSingleRuns) {
  const SessionConfig configs[] = {box(1), every_frame("test://cut?size=256x144&frames=90")};
  const Records truths[] = {by_hand(configs[0]), by_hand(configs[1])};
  for (int round = 0; round < 5; ++round) {
    Records found[2];
    std::thread other([&] { found[1] = by_session(configs[1]); });
    found[0] = by_session(configs[0]);
    other.join();
    EXPECT_EQ(found[0], truths[0]);
    EXPECT_EQ(found[1], truths[1]);
  }
}

TEST(Session, MadeAndDestroyedInAnyOrder_OthersGoOn) {
  const Records truth = by_hand(box(2));
  auto first = std::make_unique<Session>(box(1));
  auto second = std::make_unique<Session>(box(2));
  Emission emission;
  first->next(emission);
  second->start();
  auto third = std::make_unique<Session>(box(2));
  first.reset();
  auto unused = std::make_unique<Session>(box(3));
  EXPECT_EQ(rest_of(*second), truth);
  second.reset();
  unused.reset();
  EXPECT_EQ(rest_of(*third), truth);
}

TEST(Session, Seek_GoesOnFromThereAsNew) {
  Session session(box());
  Emission emission;
  for (int i = 0; i < 10; ++i) session.next(emission);
  ASSERT_TRUE(session.seek(1'000'000'000));
  const SessionStep step = session.next(emission);
  EXPECT_EQ(step.pts_ns, 1'000'000'000);
  EXPECT_EQ(step.result.damaged_tiles, session.pipeline().damage().grid().count());
  EXPECT_EQ(step.result.gaze.fixation, 0);
}

TEST(Session, Reopen_EqualsANewSession) {
  Session session(box(1));
  Emission emission;
  for (int i = 0; i < 10; ++i) session.next(emission);
  emission = Emission{};
  const SessionConfig other = every_frame("test://cut?size=256x144&frames=60");
  FeedConfig feed;
  feed.source = other.source;
  session.reopen(std::make_unique<Feed>(feed), other.pipeline);
  EXPECT_EQ(rest_of(session), by_hand(other));
  EXPECT_EQ(session.facts().pipeline.frames, 60);
}

TEST(Session, Look_MovesTheNextFixationAlone) {
  SessionConfig config = box();
  config.pipeline.emit = {EmitPolicy::Kind::kFixation, 1};
  config.pipeline.scanpath.policy = FixationPolicy::kCenter;
  Session session(config);
  Emission emission;
  const auto next_place = [&] {
    EXPECT_EQ(next_emission(session, emission), SessionStatus::kEmission);
    return std::pair(emission.fix_u, emission.fix_v);
  };
  session.look(0.25F, 0.75F);
  EXPECT_EQ(next_place(), std::pair(0.25F, 0.75F)) << "before the first frame";
  EXPECT_EQ(next_place(), std::pair(0.5F, 0.5F));
  session.look(1, 0);
  EXPECT_EQ(next_place(), std::pair(1.0F, 0.0F));
  EXPECT_EQ(next_place(), std::pair(0.5F, 0.5F));
  EXPECT_THROW(session.look(1.5F, 0.5F), UsageError);
}

TEST(Session, AttendAndSource_HoldAcrossNewSettings) {
  SessionConfig config = box();
  config.pipeline.emit = {EmitPolicy::Kind::kFixation, 1};
  config.pipeline.scanpath.policy = FixationPolicy::kCenter;
  Session session(config);
  Emission emission;
  const auto next_u = [&] {
    EXPECT_EQ(next_emission(session, emission), SessionStatus::kEmission);
    return emission.fix_u;
  };
  session.attend(AttentionMap{1, 2, {0, 1}});
  EXPECT_EQ(next_u(), 0.75F) << "before the first frame";
  config.pipeline.scanpath.rate_hz = 5;
  session.configure(config.pipeline);
  EXPECT_EQ(next_u(), 0.75F);
  EXPECT_THROW(session.attend(AttentionMap{1, 2, {0}}), UsageError);
  std::int64_t asked_at = -1;
  session.set_fixation_source([&](const FixationRequest&, const SceneView& scene) {
    asked_at = scene.frame;
    return std::optional(GazePoint{0.125F, 0.5F});
  });
  EXPECT_EQ(next_u(), 0.125F);
  EXPECT_GT(asked_at, 0);
  session.rebuild(config.pipeline);
  EXPECT_EQ(next_u(), 0.125F) << "a source holds for good";
  session.set_fixation_source({});
  EXPECT_EQ(next_u(), 0.5F) << "the map went with the pipeline";
}

}  // namespace
}  // namespace saccade::test
