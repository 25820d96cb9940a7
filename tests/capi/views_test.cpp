// Views through the C interface: their lives, their facts, and arguments that make no sense.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <saccade/views.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/capi/handles.h"

namespace saccade::test {
namespace {

using testing::HasSubstr;

using ViewsHandle = std::unique_ptr<saccade_views, Free<saccade_views, saccade_views_free>>;
constexpr const char* kUri = "test://box?size=640x360&frames=20&rate=5";
const Settings kEachFrame{{"backend", "cpu"}, {"every", "frame"}, {"fixation", "center"}};

saccade_token_rule rule_named(const std::string& name) {
  auto rule = sized<saccade_token_rule>();
  for (std::size_t i = 0; saccade_token_rule_describe(i, &rule) == SACCADE_OK; ++i) {
    if (name == rule.name) return rule;
  }
  ADD_FAILURE() << "no rule " << name;
  return rule;
}

saccade_views_settings settings_of(const saccade_token_rule& rule, std::int32_t tokens) {
  auto settings = sized<saccade_views_settings>();
  settings.rule = &rule;
  settings.tokens = tokens;
  return settings;
}

ViewsHandle views_of(const StreamHandle& stream, const saccade_views_settings& settings) {
  saccade_views* views = nullptr;
  EXPECT_EQ(saccade_stream_views(stream.get(), &settings, &views), SACCADE_OK) << saccade_last_error();
  return ViewsHandle(views);
}

std::size_t count_of(const ViewsHandle& views) {
  std::size_t count = 0;
  EXPECT_EQ(saccade_views_count(views.get(), &count), SACCADE_OK);
  return count;
}

TEST(Views, OfAStream_OutliveItWithTheirPixels) {
  StreamHandle stream = open_stream(kUri, kEachFrame);
  ASSERT_EQ(take_next(stream).status, SACCADE_OK);
  const saccade_token_rule rule = rule_named("qwen2.5-vl");
  const ViewsHandle views = views_of(stream, settings_of(rule, 800));
  stream.reset();
  ASSERT_GE(count_of(views), 1U);
  auto view = sized<saccade_view>();
  ASSERT_EQ(saccade_views_get(views.get(), 0, &view), SACCADE_OK) << saccade_last_error();
  EXPECT_STREQ(view.reason, "overview");
  EXPECT_EQ(view.rgb_bytes, static_cast<std::size_t>(view.width) * static_cast<std::size_t>(view.height) * 3);
  EXPECT_EQ(view.box_width, view.width << view.level);
  EXPECT_EQ(view.scale, 1.0 / (1 << view.level));
  std::int32_t tokens = 0, width = 0, height = 0;
  EXPECT_EQ(saccade_token_rule_count(&rule, view.width, view.height, &tokens, &width, &height), SACCADE_OK);
  EXPECT_EQ(tokens, view.tokens);
  EXPECT_EQ(width, view.width);
  EXPECT_NE(view.rgb[0] + view.rgb[view.rgb_bytes / 2], 0);
}

TEST(Views, OfAFrameThatWasSent_AreNone) {
  const StreamHandle stream = open_stream("test://static?size=640x360&frames=20&rate=5", kEachFrame);
  ASSERT_EQ(take_next(stream).status, SACCADE_OK);
  const saccade_token_rule rule = rule_named("qwen2.5-vl");
  EXPECT_EQ(count_of(views_of(stream, settings_of(rule, 800))), 1U);
  EXPECT_EQ(count_of(views_of(stream, settings_of(rule, 800))), 0U);
  ASSERT_EQ(take_next(stream).status, SACCADE_OK);
  EXPECT_EQ(count_of(views_of(stream, settings_of(rule, 800))), 0U);
}

TEST(Views, OfNewThingsAlone_BeginWithAnOverview) {
  const StreamHandle stream = open_stream("test://static?size=1280x720&frames=20&rate=5", kEachFrame);
  ASSERT_EQ(take_next(stream).status, SACCADE_OK);
  const saccade_token_rule rule = rule_named("qwen2.5-vl");
  auto settings = settings_of(rule, 400);
  settings.new_only = 1;
  EXPECT_EQ(count_of(views_of(stream, settings)), 1U);
  EXPECT_EQ(count_of(views_of(stream, settings)), 0U);
  settings.new_only = 0;
  EXPECT_GT(count_of(views_of(stream, settings)), 0U);
}

TEST(Views, Points_ComeBack) {
  const StreamHandle stream = open_stream(kUri, kEachFrame);
  ASSERT_EQ(take_next(stream).status, SACCADE_OK);
  const saccade_token_rule rule = rule_named("qwen3-vl");
  const ViewsHandle views = views_of(stream, settings_of(rule, 800));
  double x = 0, y = 0;
  ASSERT_EQ(saccade_views_to_frame(views.get(), 0, nullptr, 250, 500, &x, &y), SACCADE_OK);
  ASSERT_EQ(saccade_views_from_frame(views.get(), 0, nullptr, x, y, &x, &y), SACCADE_OK);
  EXPECT_NEAR(x, 250, 1e-9);
  EXPECT_NEAR(y, 500, 1e-9);
  std::size_t found = 7;
  EXPECT_EQ(saccade_views_find(views.get(), nullptr, 320, 180, &found), SACCADE_OK);
  EXPECT_LT(found, count_of(views));
  EXPECT_EQ(saccade_views_find(views.get(), nullptr, -1, 180, &found), SACCADE_END);
}

TEST(Views, WhatMakesNoSense_IsRefused) {
  const StreamHandle stream = open_stream(kUri, kEachFrame);
  const saccade_token_rule rule = rule_named("claude");
  saccade_views* none = nullptr;
  const auto refused = [&](saccade_status status, const char* what) {
    EXPECT_EQ(status, SACCADE_ERROR_USAGE) << what;
    EXPECT_THAT(saccade_last_error(), HasSubstr(what));
  };
  auto settings = settings_of(rule, 800);
  refused(saccade_stream_views(stream.get(), &settings, &none), "no frame was taken yet");
  ASSERT_EQ(take_next(stream).status, SACCADE_OK);
  refused(saccade_stream_views(nullptr, &settings, &none), "stream is NULL");
  refused(saccade_stream_views(stream.get(), &settings, nullptr), "out is NULL");
  refused(saccade_stream_views(stream.get(), nullptr, &none), "a struct is NULL");
  settings.tokens = 0;
  refused(saccade_stream_views(stream.get(), &settings, &none), "0 tokens");
  settings.tokens = 3;
  refused(saccade_stream_views(stream.get(), &settings, &none), "3 tokens; one picture takes 4 or more");
  settings = settings_of(rule, 800);
  settings.rule = nullptr;
  refused(saccade_stream_views(stream.get(), &settings, &none), "a struct is NULL");
  settings = settings_of(rule, 800);
  settings.has_look = 1;
  settings.look_u = 2;
  refused(saccade_stream_views(stream.get(), &settings, &none), "both lie between 0 and 1");
  saccade_token_rule wrong = rule;
  wrong.resizing = 99;
  settings = settings_of(wrong, 800);
  refused(saccade_stream_views(stream.get(), &settings, &none), "no such resizing");
  EXPECT_EQ(none, nullptr);

  const ViewsHandle views = views_of(stream, settings_of(rule, 800));
  double x = 0, y = 0;
  auto view = sized<saccade_view>();
  refused(saccade_views_get(views.get(), 99, &view), "there is no view 99");
  refused(saccade_views_get(nullptr, 0, &view), "views is NULL");
  refused(saccade_views_to_frame(views.get(), 0, nullptr, 1, 1, nullptr, &y), "frame_x or frame_y is NULL");
  auto coordinates = sized<saccade_coordinates>();
  coordinates.space = 9;
  refused(saccade_views_to_frame(views.get(), 0, &coordinates, 1, 1, &x, &y), "no such space");
  coordinates = sized<saccade_coordinates>();
  coordinates.seen_width = 10;
  refused(saccade_views_from_frame(views.get(), 0, &coordinates, 1, 1, &x, &y), "both above 0, or both 0");
}

TEST(TokenRules, WhatMakesNoSense_IsRefused) {
  const saccade_token_rule rule = rule_named("qwen2.5-vl");
  std::int32_t width = 0, height = 0;
  EXPECT_EQ(saccade_token_rule_count(&rule, 0, 10, nullptr, nullptr, nullptr), SACCADE_ERROR_USAGE);
  EXPECT_THAT(saccade_last_error(), HasSubstr("a picture of 0x10"));
  EXPECT_EQ(saccade_token_rule_count(&rule, 4020, 10, nullptr, nullptr, nullptr), SACCADE_ERROR_USAGE);
  EXPECT_THAT(saccade_last_error(), HasSubstr("the model refuses a picture of 4020x10"));
  EXPECT_EQ(saccade_token_rule_fit(&rule, 10, 10, 3, &width, &height), SACCADE_END);
  EXPECT_EQ(saccade_token_rule_fit(&rule, 10, 10, 4, &width, nullptr), SACCADE_ERROR_USAGE);
  EXPECT_EQ(saccade_token_rule_fit(&rule, 10, 10, 4, &width, &height), SACCADE_OK);
  EXPECT_EQ(width * height, 56 * 56);
}

}  // namespace
}  // namespace saccade::test
