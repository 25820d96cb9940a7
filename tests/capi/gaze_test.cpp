// Fixations from outside: a map, a function, a list, a look.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "tests/capi/handles.h"

namespace saccade::test {
namespace {

using testing::HasSubstr;

constexpr const char* kUri = "test://static?size=320x240&frames=200&rate=25";
const Settings kCpu{{"backend", "cpu"}, {"rate", "5"}, {"fixation", "center"}};

TEST(Gaze, Attend_PutsTheNextFixationOnThePeak) {
  const StreamHandle stream = open_stream(kUri, kCpu);
  EXPECT_EQ(take_next(stream).facts.fixation_u, 0.5F);
  std::vector<float> map(6 * 8, 0.0F);
  map[1 * 8 + 6] = 1;
  ASSERT_EQ(saccade_stream_attend(stream.get(), map.data(), 6, 8, nullptr), SACCADE_OK) << saccade_last_error();
  const Taken first = take_next(stream);
  EXPECT_FLOAT_EQ(first.facts.fixation_u, 6.5F / 8);
  EXPECT_FLOAT_EQ(first.facts.fixation_v, 1.5F / 6);
  const float box[4] = {0.5F, 0.5F, 1, 1};
  ASSERT_EQ(saccade_stream_attend(stream.get(), map.data(), 6, 8, box), SACCADE_OK) << saccade_last_error();
  const Taken second = take_next(stream);
  EXPECT_FLOAT_EQ(second.facts.fixation_u, 0.5F + 0.5F * 6.5F / 8);
  EXPECT_FLOAT_EQ(second.facts.fixation_v, 0.5F + 0.5F * 1.5F / 6);
  ASSERT_EQ(saccade_stream_attend(stream.get(), nullptr, 0, 0, nullptr), SACCADE_OK);
  EXPECT_EQ(take_next(stream).facts.fixation_u, 0.5F);
  EXPECT_EQ(saccade_stream_attend(stream.get(), map.data(), 0, 8, nullptr), SACCADE_ERROR_USAGE);
  const float none[4] = {1, 0, 0, 1};
  EXPECT_EQ(saccade_stream_attend(stream.get(), map.data(), 6, 8, none), SACCADE_ERROR_USAGE);
}

struct Answer {
  saccade_status status = SACCADE_OK;
  float u = 0, v = 0;
  int asked = 0;
  saccade_fixation_request last{};
};

saccade_status answer(void* user, const saccade_fixation_request* request, float* u, float* v) {
  auto& with = *static_cast<Answer*>(user);
  ++with.asked;
  with.last = *request;
  *u = with.u;
  *v = with.v;
  return with.status;
}

struct Caller {
  saccade_stream* stream = nullptr;
  std::vector<std::string> refused;
};

// Makes every call that would change the stream, or end it, while it is being moved.
saccade_status call_again(void* user, const saccade_fixation_request*, float* u, float* v) {
  auto& with = *static_cast<Caller*>(user);
  const auto note = [&](saccade_status status) {
    with.refused.push_back(status == SACCADE_ERROR_USAGE ? saccade_last_error() : "accepted");
  };
  saccade_emission* emission = nullptr;
  note(saccade_stream_next(with.stream, -1, &emission));
  const auto target = sized<saccade_target>();
  note(saccade_stream_next_into(with.stream, -1, &target, nullptr));
  note(saccade_stream_open(with.stream, kUri));
  auto info = sized<saccade_stream_info>();
  note(saccade_stream_probe(with.stream, kUri, &info));
  auto format = sized<saccade_frame_format>();
  format.pixels = SACCADE_PIXELS_GRAY8;
  format.width_px = format.height_px = 64;
  note(saccade_stream_open_frames(with.stream, &format));
  const std::vector<std::uint8_t> samples(64 * 64);
  auto frame = sized<saccade_frame>();
  frame.planes[0] = samples.data();
  note(saccade_stream_push(with.stream, &frame, nullptr));
  note(saccade_stream_push_end(with.stream));
  note(saccade_stream_look(with.stream, 0.25F, 0.25F));
  note(saccade_stream_attend(with.stream, nullptr, 0, 0, nullptr));
  note(saccade_stream_set_fixation(with.stream, nullptr, nullptr));
  note(saccade_stream_set_scanpath(with.stream, nullptr, 0));
  saccade_stream_free(with.stream);  // refused as well: what follows would read freed memory
  *u = *v = 0.5F;
  return SACCADE_OK;
}

constexpr const char* kRefusedInside[] = {"next",     "next_into", "open",   "probe",        "open_frames", "push",
                                          "push_end", "look",      "attend", "set_fixation", "set_scanpath"};

void expect_all_refused(const Caller& with) {
  ASSERT_EQ(with.refused.size(), std::size(kRefusedInside));
  for (std::size_t k = 0; k < with.refused.size(); ++k) {
    EXPECT_EQ(with.refused[k], std::string("saccade_stream_") + kRefusedInside[k] +
                                   ": the stream is inside of a call, and its fixation function may not make this one");
  }
}

TEST(Gaze, FunctionThatCallsItsStream_IsRefused) {
  const StreamHandle stream = make_stream(kCpu);
  Caller with{stream.get(), {}};
  ASSERT_EQ(saccade_stream_set_fixation(stream.get(), call_again, &with), SACCADE_OK);
  ASSERT_EQ(saccade_stream_open(stream.get(), kUri), SACCADE_OK);
  EXPECT_EQ(take_next(stream).facts.fixation_u, 0.5F);
  expect_all_refused(with);
  with.refused.clear();
  EXPECT_EQ(take_next(stream).facts.fixation_u, 0.5F) << "it goes on";
  expect_all_refused(with);
}

TEST(Gaze, FunctionThatCallsTheStreamItIsPushedTo_IsRefused) {
  const StreamHandle stream = make_stream(kCpu);
  Caller with{stream.get(), {}};
  ASSERT_EQ(saccade_stream_set_fixation(stream.get(), call_again, &with), SACCADE_OK);
  auto format = sized<saccade_frame_format>();
  format.pixels = SACCADE_PIXELS_GRAY8;
  format.width_px = 320;
  format.height_px = 240;
  ASSERT_EQ(saccade_stream_open_frames(stream.get(), &format), SACCADE_OK) << saccade_last_error();
  const std::vector<std::uint8_t> samples(320 * 240);
  auto frame = sized<saccade_frame>();
  frame.planes[0] = samples.data();
  std::int32_t due = 0;
  ASSERT_EQ(saccade_stream_push(stream.get(), &frame, &due), SACCADE_OK) << saccade_last_error();
  expect_all_refused(with);
  EXPECT_EQ(due, 1);
  EXPECT_EQ(take_next(stream).facts.fixation_u, 0.5F) << "it goes on";
}

TEST(Gaze, Function_IsAskedForEachFixation) {
  const StreamHandle stream = make_stream(kCpu);
  Answer with;
  with.u = 0.25F;
  with.v = 0.75F;
  ASSERT_EQ(saccade_stream_set_fixation(stream.get(), answer, &with), SACCADE_OK) << "before a source is open";
  ASSERT_EQ(saccade_stream_open(stream.get(), kUri), SACCADE_OK);
  const Taken first = take_next(stream);
  EXPECT_EQ(first.facts.fixation_u, 0.25F);
  EXPECT_EQ(with.last.first, 1);
  EXPECT_EQ(with.last.pts_ns, 0);
  with.u = 0.5F;
  const Taken second = take_next(stream);
  EXPECT_EQ(second.facts.fixation_u, 0.5F);
  EXPECT_EQ(with.last.first, 0);
  EXPECT_EQ(with.last.u, 0.25F);
  EXPECT_EQ(with.last.fixation, 1);
  EXPECT_GE(with.last.pts_ns, 200'000'000);
  EXPECT_LE(with.last.frame, second.facts.frame);
  EXPECT_EQ(with.asked, 2);

  ASSERT_EQ(saccade_stream_open(stream.get(), kUri), SACCADE_OK);
  EXPECT_EQ(take_next(stream).facts.fixation_u, 0.5F) << "it holds beyond another open";
  with.status = SACCADE_LATER;
  with.u = 0;
  EXPECT_EQ(take_next(stream).facts.fixation_u, 0.5F) << "left to the policy";
  with.status = SACCADE_ERROR_MEMORY;
  EXPECT_EQ(take_next(stream).status, SACCADE_ERROR_MEMORY);
  EXPECT_THAT(saccade_last_error(), HasSubstr("fixation function"));
  with.status = SACCADE_OK;
  with.u = 1.5F;
  EXPECT_EQ(take_next(stream).status, SACCADE_ERROR_USAGE);
  EXPECT_THAT(saccade_last_error(), HasSubstr("1.5"));
  ASSERT_EQ(saccade_stream_set_fixation(stream.get(), nullptr, nullptr), SACCADE_OK);
  EXPECT_EQ(take_next(stream).facts.fixation_u, 0.5F);
}

TEST(Gaze, Scanpath_IsFollowedFromTheNextOpen) {
  const StreamHandle stream = make_stream({{"backend", "cpu"}});
  const double rows[] = {0, 0.25, 0.5, 1, 0.75, 0.125, 2, 0.5, 0.5};
  ASSERT_EQ(saccade_stream_set_scanpath(stream.get(), rows, 3), SACCADE_OK) << saccade_last_error();
  ASSERT_EQ(saccade_stream_open(stream.get(), kUri), SACCADE_OK);
  const float us[] = {0.25F, 0.75F, 0.5F}, vs[] = {0.5F, 0.125F, 0.5F};
  for (int i = 0; i < 3; ++i) {
    const Taken taken = take_next(stream);
    EXPECT_EQ(taken.facts.fixation_u, us[i]) << i;
    EXPECT_EQ(taken.facts.fixation_v, vs[i]) << i;
    EXPECT_GE(taken.facts.pts_ns, i * 1'000'000'000LL);
  }
  EXPECT_EQ(take_next(stream).status, SACCADE_END);
  const double falling[] = {1, 0.5, 0.5, 0, 0.5, 0.5};
  EXPECT_EQ(saccade_stream_set_scanpath(stream.get(), falling, 2), SACCADE_ERROR_USAGE);
  EXPECT_THAT(saccade_last_error(), HasSubstr("row 1"));
  EXPECT_EQ(saccade_stream_set_scanpath(stream.get(), nullptr, 2), SACCADE_ERROR_USAGE);
  ASSERT_EQ(saccade_stream_set_scanpath(stream.get(), nullptr, 0), SACCADE_OK);
  ASSERT_EQ(saccade_stream_open(stream.get(), kUri), SACCADE_OK);
  EXPECT_EQ(take_next(stream).status, SACCADE_OK);
}

}  // namespace
}  // namespace saccade::test
