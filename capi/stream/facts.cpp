// What a stream tells of itself: info, geometry, levels, counters, end.
#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "capi/error.h"
#include "capi/stream/stream.h"
#include "capi/structs.h"

using namespace saccade;
using namespace saccade::capi;

namespace {

int flag(bool value) { return value ? 1 : 0; }

saccade_stream_info public_info(const StreamInfo& info, const saccade_stream::Texts& texts) {
  saccade_stream_info out{};
  out.uri = info.uri.c_str();
  out.container = info.container.c_str();
  out.codec = info.codec.c_str();
  out.decoder = info.decoder.c_str();
  out.hwdec = name(info.hwdec);
  out.hwdec_reason = info.hwdec_reason.c_str();
  out.pixel_format = info.pixel_format.c_str();
  out.layout = name(info.layout);
  out.matrix = name(info.color.matrix);
  out.range = name(info.color.range);
  out.filters = info.filters.c_str();
  out.notes = texts.notes.data();
  out.note_count = texts.notes.size();
  out.sar = info.sar;
  out.fps = info.fps;
  out.duration_ns = info.duration_s ? std::llround(*info.duration_s * 1e9) : -1;
  out.frame_count = info.frame_count.value_or(-1);
  out.width_px = info.width_px;
  out.height_px = info.height_px;
  out.coded_width_px = info.coded_width_px;
  out.coded_height_px = info.coded_height_px;
  out.stream_index = info.stream_index;
  out.depth_bits = info.color.depth_bits;
  out.rotation_deg = info.rotation_deg;
  out.mirrored = flag(info.mirrored);
  out.deinterlaced = flag(info.deinterlaced);
  out.matrix_tagged = flag(info.matrix_tagged);
  out.range_tagged = flag(info.range_tagged);
  out.live = flag(info.live);
  return out;
}

saccade_geometry public_geometry(const saccade_stream& stream, const Session& session, const char* lattice) {
  const Pipeline& pipeline = session.pipeline();
  const PyramidLayout& layout = pipeline.texture().layout();
  const PipelineConfig& config = pipeline.config();
  const std::size_t count = pipeline.lattice().patch_count();
  saccade_geometry out{};
  out.backend = name(config.backend);
  out.backend_reason = stream.settings().backend_reason.c_str();
  out.lattice = lattice;
  out.texture = name(layout.format);
  out.patches_bytes = PatchBatch::bytes_of(count, config.lattice.patch_size, config.samples);
  out.m0 = pipeline.lattice().fovea().m0;
  out.e0 = pipeline.lattice().fovea().e0;
  out.patch_count = static_cast<std::int32_t>(count);
  out.patch_size = config.lattice.patch_size;
  out.dtype = static_cast<std::int32_t>(config.samples.type);
  out.width_px = layout.width_px;
  out.height_px = layout.height_px;
  out.levels = layout.levels;
  out.plane_count = layout.plane_count;
  out.tile_cols = layout.tiles.cols;
  out.tile_rows = layout.tiles.rows;
  return out;
}

// Throws UsageError for a plane or a level that the texture doesn't have.
saccade_level level_of(const PyramidLayout& layout, int plane, int level, const char* function) {
  if (plane < 0 || plane >= layout.plane_count) {
    refuse(function, fmt::format("there is no plane {}; this texture has {}", plane, layout.plane_count));
  }
  const PlaneLayout& shape = layout.planes[static_cast<std::size_t>(plane)];
  if (level < 0 || level >= shape.levels) {
    refuse(function, fmt::format("there is no level {}; plane {} has {}", level, plane, shape.levels));
  }
  const auto rounded_up = [level](int size) { return (size + (1 << level) - 1) >> level; };
  saccade_level out{};
  out.width = shape.width >> level;
  out.height = shape.height >> level;
  out.image_width = rounded_up(shape.image_width);
  out.image_height = rounded_up(shape.image_height);
  out.channels = shape.channels;
  out.bytes_per_channel = shape.bytes_per_channel;
  out.size_bytes = static_cast<std::size_t>(out.width) * static_cast<std::size_t>(out.height) *
                   static_cast<std::size_t>(shape.texel_bytes());
  return out;
}

saccade_counters public_counters(const Session& session) {
  const PipelineCounters& pipeline = session.pipeline().counters();
  const QueueCounters queue = session.feed().queue_counters();
  saccade_counters out{};
  out.frames = pipeline.frames;
  out.emissions = pipeline.emissions;
  out.damaged_tiles = pipeline.damaged_tiles;
  out.tiles = pipeline.tiles;
  out.patches = pipeline.patches;
  out.patches_changed = pipeline.patches_changed;
  out.bytes_uploaded = pipeline.bytes_uploaded;
  out.frames_dropped = queue.dropped_stale;
  if (!session.feed().finished()) return out;
  const SourceCounters& source = session.feed().counters();
  out.frames_decoded = source.frames;
  out.frames_corrupt = source.frames_corrupt;
  out.frames_off_device = source.frames_off_device;
  out.packets_corrupt = source.packets_corrupt;
  out.packets_late = source.packets_late;
  out.format_changes = source.format_changes;
  out.gaps = source.gaps;
  out.gaps_ns = source.gaps_ns;
  out.truncated = flag(source.truncated);
  out.late_ns = source.late_ns;
  out.packets_lost = source.packets_lost;
  out.segments_lost = source.segments_lost;
  return out;
}

}  // namespace

saccade_status saccade_stream_get_info(saccade_stream* stream, saccade_stream_info* out) {
  constexpr const char* kFunction = "saccade_stream_get_info";
  return with_stream(stream, kFunction, [&](saccade_stream& opened) {
    const StreamInfo& info = opened.session(kFunction).info();
    fill(kFunction, out, public_info(info, opened.texts()));
    return SACCADE_OK;
  });
}

saccade_status saccade_stream_probe(saccade_stream* stream, const char* uri, saccade_stream_info* out) {
  constexpr const char* kFunction = "saccade_stream_probe";
  return change_stream(stream, kFunction, [&](saccade_stream& opened) {
    require(uri != nullptr && *uri != '\0', kFunction, "uri is NULL or empty");
    require(out != nullptr, kFunction, "the struct to fill is NULL");
    check_size<saccade_stream_info>(kFunction, out->struct_size, {});
    const StreamInfo& info = opened.probe(uri);
    fill(kFunction, out, public_info(info, opened.texts()));
    return SACCADE_OK;
  });
}

saccade_status saccade_stream_get_geometry(saccade_stream* stream, saccade_geometry* out) {
  constexpr const char* kFunction = "saccade_stream_get_geometry";
  return with_stream(stream, kFunction, [&](saccade_stream& opened) {
    const Session& session = opened.session(kFunction);
    fill(kFunction, out, public_geometry(opened, session, opened.texts().lattice.c_str()));
    return SACCADE_OK;
  });
}

saccade_status saccade_stream_get_level(saccade_stream* stream, int plane, int level, saccade_level* out) {
  constexpr const char* kFunction = "saccade_stream_get_level";
  return with_stream(stream, kFunction, [&](saccade_stream& opened) {
    const Session& session = opened.session(kFunction);
    fill(kFunction, out, level_of(session.pipeline().texture().layout(), plane, level, kFunction));
    return SACCADE_OK;
  });
}

saccade_status saccade_stream_read_level(saccade_stream* stream, int plane, int level, void* texels,
                                         std::size_t size_bytes) {
  constexpr const char* kFunction = "saccade_stream_read_level";
  return with_stream(stream, kFunction, [&](saccade_stream& opened) {
    const Session& session = opened.session(kFunction);
    const Levels& pyramid = session.pipeline().texture();
    const saccade_level shape = level_of(pyramid.layout(), plane, level, kFunction);
    require(texels != nullptr, kFunction, "texels is NULL");
    require(session.pipeline().has_frame(), kFunction,
            "no frame was taken yet; take an emission or push a frame first");
    if (size_bytes != shape.size_bytes) {
      refuse(kFunction, fmt::format("the level has {} bytes, the memory for it {}", shape.size_bytes, size_bytes));
    }
    LevelImage image;
    pyramid.read_level(plane, level, image);
    std::memcpy(texels, image.data.data(), size_bytes);
    return SACCADE_OK;
  });
}

saccade_status saccade_stream_get_counters(saccade_stream* stream, saccade_counters* out) {
  constexpr const char* kFunction = "saccade_stream_get_counters";
  return with_stream(stream, kFunction, [&](saccade_stream& opened) {
    const Session& session = opened.session(kFunction);
    fill(kFunction, out, public_counters(session));
    return SACCADE_OK;
  });
}

saccade_status saccade_stream_get_end(saccade_stream* stream, saccade_stream_end* out) {
  constexpr const char* kFunction = "saccade_stream_get_end";
  return with_stream(stream, kFunction, [&](saccade_stream& opened) {
    const Session& session = opened.session(kFunction);
    saccade_stream_end end{};
    if (session.feed().finished()) {
      const StreamEnd how = session.feed().end();
      const bool failed = session.feed().failed();
      opened.texts().end_reason = failed ? session.feed().fault().what : how.reason;
      end.ended = 1;
      end.broke = flag(failed || how.broke);
    }
    if (session.interrupted()) {
      opened.texts().end_reason = "interrupted";
      end.ended = 1;
    }
    end.reason = opened.texts().end_reason.c_str();
    fill(kFunction, out, end);
    return SACCADE_OK;
  });
}
