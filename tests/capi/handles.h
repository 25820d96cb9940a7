// Owners of the C interface's handles, and the calls that most tests of it make.
#pragma once

#include <gtest/gtest.h>
#include <saccade/saccade.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace saccade::test {

template <typename Handle, void (*kFree)(Handle*)>
struct Free {
  void operator()(Handle* handle) const { kFree(handle); }
};
using OptionsHandle = std::unique_ptr<saccade_options, Free<saccade_options, saccade_options_free>>;
using StreamHandle = std::unique_ptr<saccade_stream, Free<saccade_stream, saccade_stream_free>>;
using EmissionHandle = std::unique_ptr<saccade_emission, Free<saccade_emission, saccade_emission_release>>;
using Settings = std::vector<std::pair<const char*, const char*>>;

inline StreamHandle make_stream(const Settings& settings) {
  const OptionsHandle options(saccade_options_new());
  for (const auto& [name, text] : settings) {
    EXPECT_EQ(saccade_options_set(options.get(), name, text), SACCADE_OK) << saccade_last_error();
  }
  saccade_stream* stream = nullptr;
  EXPECT_EQ(saccade_stream_new(options.get(), &stream), SACCADE_OK) << saccade_last_error();
  return StreamHandle(stream);
}

inline StreamHandle open_stream(const char* uri, const Settings& settings) {
  StreamHandle stream = make_stream(settings);
  EXPECT_EQ(saccade_stream_open(stream.get(), uri), SACCADE_OK) << saccade_last_error();
  return stream;
}

template <typename Struct>
Struct sized() {
  Struct out{};
  out.struct_size = sizeof(Struct);
  return out;
}

inline saccade_geometry geometry_of(const StreamHandle& stream) {
  auto geometry = sized<saccade_geometry>();
  EXPECT_EQ(saccade_stream_get_geometry(stream.get(), &geometry), SACCADE_OK) << saccade_last_error();
  return geometry;
}

// All of one emission, copied.
struct Taken {
  saccade_status status = SACCADE_ERROR_INTERNAL;
  saccade_emission_view facts{};
  std::vector<std::uint8_t> patches;
  std::vector<float> geometry;
  std::vector<std::uint8_t> changed;
};

inline Taken take_next(const StreamHandle& stream) {
  saccade_emission* emission = nullptr;
  Taken taken;
  taken.status = saccade_stream_next(stream.get(), -1, &emission);
  if (taken.status != SACCADE_OK) return taken;
  const EmissionHandle owner(emission);
  taken.facts = sized<saccade_emission_view>();
  EXPECT_EQ(saccade_emission_get(emission, &taken.facts), SACCADE_OK) << saccade_last_error();
  const auto count = static_cast<std::size_t>(taken.facts.patch_count);
  const auto* bytes = static_cast<const std::uint8_t*>(taken.facts.patches);
  taken.patches.assign(bytes, bytes + taken.facts.patches_bytes);
  taken.geometry.assign(taken.facts.geometry, taken.facts.geometry + 4 * count);
  taken.changed.assign(taken.facts.changed, taken.facts.changed + count);
  return taken;
}

constexpr std::size_t sample_bytes(int dtype) { return dtype == SACCADE_U8 ? 1 : dtype == SACCADE_F16 ? 2 : 4; }

// Room for an emission in host memory, and the target that names it.
struct HostRoom {
  explicit HostRoom(const saccade_geometry& shape, int dtype = SACCADE_U8)
      : patches(static_cast<std::size_t>(shape.patch_count) * 3 *
                static_cast<std::size_t>(shape.patch_size * shape.patch_size) * sample_bytes(dtype)),
        geometry(static_cast<std::size_t>(shape.patch_count) * 4),
        changed(static_cast<std::size_t>(shape.patch_count), 0xaa) {
    target.patches = patches.data();
    target.patches_bytes = patches.size();
    target.geometry = geometry.data();
    target.changed = changed.data();
    target.damaged_tiles = &damaged_tiles;
    target.dtype = dtype;
  }
  HostRoom(const HostRoom&) = delete;
  HostRoom& operator=(const HostRoom&) = delete;

  std::vector<std::uint8_t> patches;
  std::vector<float> geometry;
  std::vector<std::uint8_t> changed;
  std::int32_t damaged_tiles = -2;
  saccade_target target = sized<saccade_target>();
};

}  // namespace saccade::test
