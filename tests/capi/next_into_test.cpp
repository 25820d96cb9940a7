// Emissions in the caller's memory are those that saccade_stream_next() gives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "tests/capi/handles.h"

namespace saccade::test {
namespace {

using testing::Each;
using testing::HasSubstr;

constexpr const char* kUri = "test://box?size=200x120&frames=20";
const Settings kCpu{{"backend", "cpu"}, {"every", "frame"}};

Settings with(Settings settings, const char* name, const char* text) {
  settings.emplace_back(name, text);
  return settings;
}

// Every frame of two streams alike: one by saccade_stream_next(), one into memory of ours.
void expect_equal(const Settings& settings, int dtype, const float* mean, const float* deviation) {
  const StreamHandle theirs = open_stream(kUri, settings);
  const StreamHandle ours = open_stream(kUri, settings);
  HostRoom room(geometry_of(ours), dtype);
  if (mean != nullptr) std::copy_n(mean, 3, room.target.mean);
  if (deviation != nullptr) std::copy_n(deviation, 3, room.target.deviation);
  int emissions = 0;
  for (;; ++emissions) {
    const Taken wanted = take_next(theirs);
    auto facts = sized<saccade_emission_view>();
    ASSERT_EQ(saccade_stream_next_into(ours.get(), -1, &room.target, &facts), wanted.status) << saccade_last_error();
    if (wanted.status == SACCADE_END) break;
    ASSERT_EQ(wanted.status, SACCADE_OK);
    EXPECT_EQ(room.patches, wanted.patches) << emissions;
    EXPECT_EQ(room.geometry, wanted.geometry) << emissions;
    EXPECT_EQ(room.changed, wanted.changed) << emissions;
    EXPECT_EQ(room.damaged_tiles, wanted.facts.damaged_tiles);
    EXPECT_EQ(facts.patches, room.patches.data());
    EXPECT_EQ(facts.changed, room.changed.data());
    EXPECT_EQ(std::vector<float>(facts.geometry, facts.geometry + room.geometry.size()), room.geometry);
    EXPECT_EQ(facts.frame, wanted.facts.frame);
    EXPECT_EQ(facts.pts_ns, wanted.facts.pts_ns);
    EXPECT_EQ(facts.fixation_u, wanted.facts.fixation_u);
    EXPECT_EQ(facts.in_flight, wanted.facts.in_flight);
    EXPECT_EQ(facts.damaged_tiles, wanted.facts.damaged_tiles);
    EXPECT_EQ(facts.patch_count, wanted.facts.patch_count);
    EXPECT_EQ(facts.patch_size, wanted.facts.patch_size);
    EXPECT_EQ(facts.dtype, dtype);
    std::memset(room.patches.data(), 0xaa, room.patches.size());
  }
  EXPECT_GT(emissions, 5);
}

TEST(NextInto, EveryDtype_EqualsNext) {
  expect_equal(kCpu, SACCADE_U8, nullptr, nullptr);
  expect_equal(with(kCpu, "dtype", "f16"), SACCADE_F16, nullptr, nullptr);
  expect_equal(with(kCpu, "dtype", "f32"), SACCADE_F32, nullptr, nullptr);
  const float mean[3] = {0.485F, 0.456F, 0.406F}, deviation[3] = {0.229F, 0.224F, 0.225F};
  expect_equal(with(with(kCpu, "dtype", "f32"), "normalize", "imagenet"), SACCADE_F32, mean, deviation);
}

TEST(NextInto, ByFixation_EqualsNext) {
  expect_equal({{"backend", "cpu"}, {"rate", "25"}}, SACCADE_U8, nullptr, nullptr);
}

TEST(NextInto, OnOpenGL_EqualsNext) {
  if (saccade_backend_check("gl", 0) != SACCADE_OK) GTEST_SKIP() << saccade_last_error();
  expect_equal({{"backend", "gl"}, {"every", "frame"}}, SACCADE_U8, nullptr, nullptr);
}

// Truth by arithmetic: f32 is u8's value over 255 but for rounding; normalised it is (x - mean) / deviation.
TEST(NextInto, Normalised_FollowsMeanAndDeviation) {
  const StreamHandle plain = open_stream(kUri, kCpu);
  const StreamHandle normal = open_stream(kUri, kCpu);
  HostRoom bytes(geometry_of(plain)), floats(geometry_of(plain), SACCADE_F32);
  const float mean[3] = {0.5F, 0.25F, 0.125F}, deviation[3] = {0.5F, 2, 0};  // 0 stands for 1
  std::copy_n(mean, 3, floats.target.mean);
  std::copy_n(deviation, 3, floats.target.deviation);
  ASSERT_EQ(saccade_stream_next_into(plain.get(), -1, &bytes.target, nullptr), SACCADE_OK);
  ASSERT_EQ(saccade_stream_next_into(normal.get(), -1, &floats.target, nullptr), SACCADE_OK);
  const auto area = static_cast<std::size_t>(geometry_of(plain).patch_size * geometry_of(plain).patch_size);
  for (std::size_t i = 0; i < bytes.patches.size(); ++i) {
    float value = 0;
    std::memcpy(&value, floats.patches.data() + i * sizeof value, sizeof value);
    const std::size_t c = i / area % 3;
    const float sample = value * (c == 2 ? 1 : deviation[c]) + mean[c];
    ASSERT_NEAR(sample * 255, static_cast<float>(bytes.patches[i]), 0.501F) << i;
  }
}

// A slot of a batch: nothing before and after it is touched, and what is not wanted need not be there.
TEST(NextInto, Slot_IsAllThatIsWritten) {
  const StreamHandle stream = open_stream(kUri, with(kCpu, "lattice", "nested"));
  const saccade_geometry geometry = geometry_of(stream);
  std::vector<std::uint8_t> batch(geometry.patches_bytes * 3 + 2, 0xaa);
  auto target = sized<saccade_target>();
  target.patches = batch.data() + 1 + geometry.patches_bytes;  // at an odd address
  target.patches_bytes = geometry.patches_bytes;
  auto facts = sized<saccade_emission_view>();
  ASSERT_EQ(saccade_stream_next_into(stream.get(), -1, &target, &facts), SACCADE_OK) << saccade_last_error();
  EXPECT_THAT(std::vector<std::uint8_t>(batch.begin(), batch.begin() + 1 + geometry.patches_bytes), Each(0xaa));
  EXPECT_THAT(std::vector<std::uint8_t>(batch.begin() + 1 + 2 * geometry.patches_bytes, batch.end()), Each(0xaa));
  ASSERT_NE(facts.changed, nullptr);
  EXPECT_THAT(std::vector<std::uint8_t>(facts.changed, facts.changed + facts.patch_count), Each(1));
  const Taken wanted = take_next(open_stream(kUri, with(kCpu, "lattice", "nested")));
  EXPECT_EQ(std::memcmp(target.patches, wanted.patches.data(), wanted.patches.size()), 0);
}

// Unchanged means the bytes that were last emitted; bytes of another type were not.
TEST(NextInto, OtherDtype_ChangesEverything) {
  const StreamHandle stream =
      open_stream("test://static?size=64x64&frames=9",
                  with(with(with(kCpu, "lattice", "nested"), "fixation", "center"), "dtype", "f32"));
  HostRoom bytes(geometry_of(stream)), floats(geometry_of(stream), SACCADE_F32);
  const auto changed_after = [&](HostRoom& room) {
    EXPECT_EQ(saccade_stream_next_into(stream.get(), -1, &room.target, nullptr), SACCADE_OK) << saccade_last_error();
    return room.changed;
  };
  EXPECT_THAT(changed_after(bytes), Each(1));
  EXPECT_THAT(changed_after(bytes), Each(0));
  EXPECT_THAT(changed_after(floats), Each(1));
  EXPECT_THAT(changed_after(floats), Each(0));
  EXPECT_THAT(take_next(stream).changed, Each(0)) << "f32 as well";
  EXPECT_THAT(changed_after(bytes), Each(1));
}

TEST(NextInto, WrongTargets_AreRefusedAndNothingIsLost) {
  const StreamHandle stream = open_stream(kUri, kCpu);
  HostRoom room(geometry_of(stream));
  const auto refused = [&](auto&& change) {
    saccade_target target = room.target;
    change(target);
    auto facts = sized<saccade_emission_view>();
    EXPECT_EQ(saccade_stream_next_into(stream.get(), -1, &target, &facts), SACCADE_ERROR_USAGE);
    return std::string(saccade_last_error());
  };
  EXPECT_THAT(refused([](saccade_target& t) { t.patches = nullptr; }), HasSubstr("patches is NULL"));
  EXPECT_THAT(refused([](saccade_target& t) { --t.patches_bytes; }), HasSubstr("patches has"));
  EXPECT_THAT(refused([](saccade_target& t) { t.dtype = 3; }), HasSubstr("dtype"));
  EXPECT_THAT(refused([](saccade_target& t) { t.dtype = SACCADE_F16; }), HasSubstr("patches has"));
  EXPECT_THAT(refused([](saccade_target& t) { t.memory = 2; }), HasSubstr("saccade_memory"));
  EXPECT_THAT(refused([](saccade_target& t) { t.mean[1] = 0.5F; }), HasSubstr("u8 samples can't be normalized"));
  EXPECT_THAT(refused([](saccade_target& t) { t.deviation[1] = NAN; }), HasSubstr("deviation"));
  EXPECT_THAT(refused([](saccade_target& t) { t.struct_size = 16; }), HasSubstr("struct_size is 16"));
  EXPECT_THAT(refused([](saccade_target& t) {
                t.geometry = reinterpret_cast<float*>(reinterpret_cast<char*>(t.geometry) + 1);
              }),
              HasSubstr("geometry is not aligned"));
  EXPECT_EQ(saccade_stream_next_into(stream.get(), -1, nullptr, nullptr), SACCADE_ERROR_USAGE);
  saccade_target device = room.target;
  device.memory = SACCADE_CUDA;
  EXPECT_EQ(saccade_stream_next_into(stream.get(), -1, &device, nullptr), SACCADE_ERROR_UNAVAILABLE);
  EXPECT_THAT(saccade_last_error(), HasSubstr("backend cpu can't write into a device's memory"));
  EXPECT_EQ(saccade_last_error_hint_code(), SACCADE_HINT_CUDA_BACKEND);
  EXPECT_THAT(room.changed, Each(0xaa));
  auto facts = sized<saccade_emission_view>();
  ASSERT_EQ(saccade_stream_next_into(stream.get(), -1, &room.target, &facts), SACCADE_OK) << saccade_last_error();
  EXPECT_EQ(facts.frame, 0) << "no frame went by";
}

// A field of a later version that asks for something can't be met; one that is zero asks for nothing.
TEST(NextInto, LaterVersionsStruct_IsTakenWhereItAsksForNothing) {
  const StreamHandle stream = open_stream(kUri, kCpu);
  HostRoom room(geometry_of(stream));
  struct {
    saccade_target target;
    std::int64_t later = 0;
  } larger{room.target};
  larger.target.struct_size = sizeof larger;
  EXPECT_EQ(saccade_stream_next_into(stream.get(), -1, &larger.target, nullptr), SACCADE_OK) << saccade_last_error();
  larger.later = 1;
  EXPECT_EQ(saccade_stream_next_into(stream.get(), -1, &larger.target, nullptr), SACCADE_ERROR_USAGE);
}

}  // namespace
}  // namespace saccade::test
