// Structs only grow at their end: where the fields lay when version 0.1 was published. Add to
// this table, change nothing.
#include <gtest/gtest.h>
#include <saccade/saccade.h>

#include <cstddef>
#include <cstdint>

namespace {

#define AT(type, field, offset) static_assert(offsetof(type, field) == (offset))

// Of 64-bit systems, where saccade is built.
static_assert(sizeof(void*) == 8 && sizeof(saccade_status) == 4);

AT(saccade_option, struct_size, 0);
AT(saccade_option, name, 8);
AT(saccade_option, choices, 56);
AT(saccade_option, lowest, 64);
AT(saccade_option, kind, 80);
AT(saccade_option, shapes_result, 84);

AT(saccade_stream_info, uri, 8);
AT(saccade_stream_info, notes, 96);
AT(saccade_stream_info, sar, 112);
AT(saccade_stream_info, duration_ns, 128);
AT(saccade_stream_info, width_px, 144);
AT(saccade_stream_info, live, 188);

AT(saccade_geometry, backend, 8);
AT(saccade_geometry, patches_bytes, 40);
AT(saccade_geometry, m0, 48);
AT(saccade_geometry, patch_count, 64);
AT(saccade_geometry, tile_rows, 96);

AT(saccade_emission_view, patches, 8);
AT(saccade_emission_view, geometry, 24);
AT(saccade_emission_view, changed, 32);
AT(saccade_emission_view, frame, 40);
AT(saccade_emission_view, fixation_u, 72);
AT(saccade_emission_view, dtype, 100);
AT(saccade_emission_view, pointer_u, 104);

AT(saccade_level, size_bytes, 8);
AT(saccade_level, width, 16);
AT(saccade_level, bytes_per_channel, 36);

AT(saccade_counters, frames, 8);
AT(saccade_counters, frames_decoded, 72);
AT(saccade_counters, gaps_ns, 128);
AT(saccade_counters, truncated, 136);
AT(saccade_counters, late_ns, 144);
AT(saccade_counters, segments_lost, 160);

AT(saccade_stream_end, reason, 8);
AT(saccade_stream_end, broke, 20);

AT(saccade_target, patches, 8);
AT(saccade_target, damaged_tiles, 40);
AT(saccade_target, cuda_stream, 48);
AT(saccade_target, memory, 56);
AT(saccade_target, dtype, 64);
AT(saccade_target, deviation, 80);

AT(saccade_frame_format, pixels, 8);
AT(saccade_frame_format, memory, 20);
AT(saccade_frame_format, matrix, 24);
AT(saccade_frame_format, fps, 48);

AT(saccade_frame, planes, 8);
AT(saccade_frame, pitches_bytes, 40);
AT(saccade_frame, pts_ns, 72);
AT(saccade_frame, device, 92);
AT(saccade_frame, may_differ_count, 104);

AT(saccade_fixation_request, fixation, 8);
AT(saccade_fixation_request, first, 40);

AT(saccade_memory_use, streams, 8);
AT(saccade_memory_use, pinned_bytes, 40);
AT(saccade_memory_use, lattices, 48);
AT(saccade_memory_use, hardware_textures, 56);

// Constants keep their values, too.
TEST(Layout, Constants_KeepTheirValues) {
  EXPECT_EQ(SACCADE_OK, 0);
  EXPECT_EQ(SACCADE_LATER, 1);
  EXPECT_EQ(SACCADE_END, 2);
  EXPECT_EQ(SACCADE_ERROR_USAGE, -1);
  EXPECT_EQ(SACCADE_ERROR_INTERNAL, -7);
  EXPECT_EQ(SACCADE_U8, 0);
  EXPECT_EQ(SACCADE_F32, 2);
  EXPECT_EQ(SACCADE_LOG_ERROR, 3);
  EXPECT_EQ(SACCADE_CUDA, 1);
  EXPECT_EQ(SACCADE_PIXELS_P010, 7);
  EXPECT_EQ(SACCADE_HINT_ALLOW_NETWORK, 23);
  EXPECT_EQ(SACCADE_VALUE_WORD_OR_INTEGER, 6);
  for (int status = SACCADE_ERROR_INTERNAL; status <= SACCADE_END; ++status) {
    EXPECT_STRNE(saccade_status_name(static_cast<saccade_status>(status)), "?") << status;
  }
  EXPECT_EQ(saccade_version(), SACCADE_VERSION);
}

}  // namespace
