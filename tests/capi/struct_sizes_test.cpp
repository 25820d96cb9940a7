// Structs of older and newer programs: a size that never was is refused; what a newer one has beyond the library's must
// be 0 where it asks for something, and becomes 0 where it is filled.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <saccade/saccade.h>
#include <saccade/views.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "tests/capi/handles.h"
#include "tests/capi/tensors.h"

namespace saccade::test {
namespace {

using testing::HasSubstr;

constexpr const char* kUri = "test://static?size=320x240&frames=200&rate=25";
const Settings kEachFrame{{"backend", "cpu"}, {"every", "frame"}, {"fixation", "center"}};

template <typename Struct>
struct Newer {
  Struct known{};
  unsigned char later[64] = {};
};

// `call` reads the struct; `known` is one that it takes.
template <typename Struct, typename Call>
void expect_sizes_read(const Struct& known, const Call& call) {
  Newer<Struct> given{known, {}};
  for (const std::size_t size : {std::size_t{0}, sizeof(std::size_t), sizeof(Struct) - 1, sizeof(Struct) - 4,
                                 std::size_t{1} << 20, std::numeric_limits<std::size_t>::max()}) {
    given.known.struct_size = size;
    EXPECT_EQ(call(&given.known), SACCADE_ERROR_USAGE) << size;
    EXPECT_THAT(saccade_last_error(), HasSubstr("struct_size is " + std::to_string(size)));
  }
  for (const std::size_t size : {sizeof(Struct), sizeof(Struct) + 8, sizeof given}) {
    given.known.struct_size = size;
    EXPECT_EQ(call(&given.known), SACCADE_OK) << size << ": " << saccade_last_error();
  }
  given.later[sizeof given.later - 1] = 1;
  EXPECT_EQ(call(&given.known), SACCADE_ERROR_USAGE);
  EXPECT_THAT(saccade_last_error(), HasSubstr("fields that this version of the library doesn't know"));
  given.known.struct_size = sizeof(Struct) + 8;
  EXPECT_EQ(call(&given.known), SACCADE_OK) << "what lies beyond its size is not the struct's";
}

// `call` fills the struct.
template <typename Struct, typename Call>
void expect_sizes_filled(const Call& call) {
  Newer<Struct> out;
  for (const std::size_t size : {std::size_t{0}, sizeof(std::size_t), sizeof(Struct) - 1, std::size_t{1} << 20}) {
    out.known.struct_size = size;
    EXPECT_EQ(call(&out.known), SACCADE_ERROR_USAGE) << size;
    EXPECT_THAT(saccade_last_error(), HasSubstr("struct_size is " + std::to_string(size)));
  }
  for (const std::size_t size : {sizeof(Struct), sizeof(Struct) + 8, sizeof out}) {
    std::memset(&out.known, 0xaa, sizeof out.known);
    std::memset(out.later, 0xaa, sizeof out.later);
    out.known.struct_size = size;
    ASSERT_EQ(call(&out.known), SACCADE_OK) << size << ": " << saccade_last_error();
    EXPECT_EQ(out.known.struct_size, size);
    const std::size_t zeros = size - sizeof(Struct);
    for (std::size_t k = 0; k < sizeof out.later; ++k)
      ASSERT_EQ(out.later[k], k < zeros ? 0 : 0xaa) << size << " " << k;
  }
}

TEST(StructSizes, StreamsFacts_AreFilledByTheirSize) {
  const StreamHandle stream = open_stream(kUri, kEachFrame);
  saccade_stream* const open = stream.get();
  expect_sizes_filled<saccade_option>([](auto* out) { return saccade_option_describe(0, out); });
  expect_sizes_filled<saccade_stream_info>([&](auto* out) { return saccade_stream_get_info(open, out); });
  expect_sizes_filled<saccade_geometry>([&](auto* out) { return saccade_stream_get_geometry(open, out); });
  expect_sizes_filled<saccade_level>([&](auto* out) { return saccade_stream_get_level(open, 0, 0, out); });
  expect_sizes_filled<saccade_counters>([&](auto* out) { return saccade_stream_get_counters(open, out); });
  expect_sizes_filled<saccade_stream_end>([&](auto* out) { return saccade_stream_get_end(open, out); });
  expect_sizes_filled<saccade_memory_use>([](auto* out) { return saccade_get_memory_use(out); });
  saccade_emission* emission = nullptr;
  ASSERT_EQ(saccade_stream_next(open, -1, &emission), SACCADE_OK) << saccade_last_error();
  const EmissionHandle owner(emission);
  expect_sizes_filled<saccade_emission_view>([&](auto* out) { return saccade_emission_get(emission, out); });
}

TEST(StructSizes, ProbedFacts_AreFilledByTheirSize) {
  const StreamHandle stream = make_stream(kEachFrame);
  expect_sizes_filled<saccade_stream_info>([&](auto* out) { return saccade_stream_probe(stream.get(), kUri, out); });
}

TEST(StructSizes, Targets_AreReadByTheirSize) {
  const StreamHandle stream = open_stream(kUri, kEachFrame);
  HostRoom room(geometry_of(stream));
  expect_sizes_read(room.target,
                    [&](auto* target) { return saccade_stream_next_into(stream.get(), -1, target, nullptr); });
  expect_sizes_filled<saccade_emission_view>(
      [&](auto* out) { return saccade_stream_next_into(stream.get(), -1, &room.target, out); });
}

TEST(StructSizes, Frames_AreReadByTheirSize) {
  const StreamHandle stream = make_stream(kEachFrame);
  auto format = sized<saccade_frame_format>();
  format.pixels = SACCADE_PIXELS_GRAY8;
  format.width_px = 320;
  format.height_px = 240;
  expect_sizes_read(format, [&](auto* asked) { return saccade_stream_open_frames(stream.get(), asked); });
  const std::vector<std::uint8_t> samples(320 * 240);
  auto frame = sized<saccade_frame>();
  frame.planes[0] = samples.data();
  expect_sizes_read(frame, [&](auto* pushed) {
    std::int32_t due = 0;
    const saccade_status status = saccade_stream_push(stream.get(), pushed, &due);
    if (due != 0) {
      EXPECT_EQ(take_next(stream).status, SACCADE_OK);
    }
    return status;
  });
}

TEST(StructSizes, ViewsStructs_AreTakenByTheirSize) {
  const StreamHandle stream = open_stream(kUri, kEachFrame);
  ASSERT_EQ(take_next(stream).status, SACCADE_OK);
  expect_sizes_filled<saccade_token_rule>([](auto* out) { return saccade_token_rule_describe(0, out); });
  auto rule = sized<saccade_token_rule>();
  ASSERT_EQ(saccade_token_rule_describe(0, &rule), SACCADE_OK);
  expect_sizes_read(rule,
                    [](auto* asked) { return saccade_token_rule_count(asked, 99, 99, nullptr, nullptr, nullptr); });
  const saccade_views_settings settings{sizeof(saccade_views_settings), &rule, 0, 0, 800, 0, 0};
  saccade_views* views = nullptr;
  ASSERT_EQ(saccade_stream_views(stream.get(), &settings, &views), SACCADE_OK) << saccade_last_error();
  expect_sizes_filled<saccade_view>([&](auto* out) { return saccade_views_get(views, 0, out); });
  double x = 0, y = 0;
  expect_sizes_read(sized<saccade_coordinates>(),
                    [&](auto* asked) { return saccade_views_to_frame(views, 0, asked, 1, 1, &x, &y); });
  saccade_views_free(views);
  expect_sizes_read(settings, [&](auto* asked) {
    views = nullptr;
    const saccade_status status = saccade_stream_views(stream.get(), asked, &views);
    saccade_views_free(views);
    return status;
  });
}

TEST(StructSizes, TensorStructs_AreReadByTheirSize) {
  OneSample one;
  const auto sample = [&](const saccade_place* place, const saccade_sample_options* options) {
    return saccade_sample(place, one.levels.data(), 2, &one.centers, &one.lods, nullptr, options, &one.incoming);
  };
  expect_sizes_read(kHost, [&](auto* place) { return sample(place, &one.options); });
  expect_sizes_read(one.options, [&](auto* options) { return sample(&kHost, options); });
  std::uint8_t tile = 0;
  const saccade_update_options update{sizeof(saccade_update_options), 0, 0, SACCADE_ODD_FLOOR, SACCADE_MASK_DIFF, 0};
  expect_sizes_read(update, [&](auto* options) {
    return saccade_update(&kHost, one.levels.data(), 2, nullptr, 0, &one.out, nullptr, options, &tile, nullptr);
  });
  auto gaussians = sized<saccade_gaussians>();
  gaussians.dimensions = 1;
  gaussians.dtype = SACCADE_F32;
  expect_sizes_read(gaussians, [&](auto* given) { return saccade_gaussian_field(&kHost, given, nullptr, nullptr); });
}

TEST(StructSizes, LatticeStructs_AreTakenByTheirSize) {
  saccade_lattice_settings settings = lattice_settings(SACCADE_LATTICE_UNIFORM, 4, 64, 64);
  expect_sizes_read(settings, [](auto* asked) {
    saccade_lattice* made = nullptr;
    const saccade_status status = saccade_lattice_new(asked, &made);
    saccade_lattice_free(made);
    return status;
  });
  saccade_lattice* lattice = nullptr;
  ASSERT_EQ(saccade_lattice_new(&settings, &lattice), SACCADE_OK) << saccade_last_error();
  expect_sizes_filled<saccade_lattice_info>([&](auto* out) { return saccade_lattice_get_info(lattice, out); });
  saccade_lattice_free(lattice);
}

// As version 0.2 first had it.
TEST(StructSizes, OlderMemoryUse_IsFilledAsFarAsItGoes) {
  auto use = sized<saccade_memory_use>();
  use.struct_size = offsetof(saccade_memory_use, lattices);
  use.lattices = use.hardware_textures = -7;
  ASSERT_EQ(saccade_get_memory_use(&use), SACCADE_OK) << saccade_last_error();
  EXPECT_GE(use.streams, 0);
  EXPECT_EQ(use.lattices, -7);
  EXPECT_EQ(use.hardware_textures, -7);
}

}  // namespace
}  // namespace saccade::test
