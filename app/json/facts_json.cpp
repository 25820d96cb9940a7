#include "app/json/facts_json.h"

#include <fmt/format.h>

#include <cstdlib>

#include "app/options/hint_flags.h"

namespace saccade {
namespace {

Json fovea_json(const shared::FoveaParams& fovea, FoveaUnit unit) {
  return {{"unit", name(unit)},
          {"m0", decimal(fovea.m0)},
          {"e0", decimal(fovea.e0)},
          {"unit_per_px_x", decimal(fovea.unit_per_px_x)},
          {"unit_per_px_y", decimal(fovea.unit_per_px_y)},
          {"max_lod", decimal(fovea.max_lod)}};
}

}  // namespace

double decimal(float value) { return std::strtod(fmt::format("{}", value).c_str(), nullptr); }

Json stream_json(const StreamInfo& s) {
  const bool is_rgb = s.layout == PixelLayout::kRgba8;
  return {{"container", s.container},
          {"codec", s.codec},
          {"stream_index", s.stream_index},
          {"pixel_format", s.pixel_format},
          {"width_px", s.width_px},
          {"height_px", s.height_px},
          {"coded_width_px", s.coded_width_px},
          {"coded_height_px", s.coded_height_px},
          {"rotation_deg", s.rotation_deg},
          {"mirrored", s.mirrored},
          {"deinterlaced", s.deinterlaced},
          {"sar", s.sar},
          {"fps", s.fps > 0 ? Json(s.fps) : Json(nullptr)},
          {"duration_s", or_null(s.duration_s)},
          {"frame_count", or_null(s.frame_count)},
          {"live", s.live},
          {"layout", name(s.layout)},
          {"matrix", is_rgb ? Json(nullptr) : Json(name(s.color.matrix))},
          {"matrix_tagged", s.matrix_tagged},
          {"range", is_rgb ? Json(nullptr) : Json(name(s.color.range))},
          {"range_tagged", s.range_tagged},
          {"depth_bits", s.color.depth_bits},
          {"chroma_site_shift", {decimal(s.color.site_shift_x), decimal(s.color.site_shift_y)}},
          {"filters", s.filters},
          {"notes", s.notes}};
}

void add_decoder(Json& json, const StreamInfo& info) {
  json["decoder"] = info.decoder;
  json["hwdec"] = name(info.hwdec);
  json["hwdec_reason"] = info.hwdec_reason;
}

void add_lattice(Json& json, const Lattice& lattice, const LatticeConfig& config, int levels) {
  json["patches"] = lattice.patch_count();
  json["patch_size"] = config.patch_size;
  json["levels"] = levels;
  json["lattice"] = lattice.describe();
  json["fovea"] = fovea_json(lattice.fovea(), fovea_unit(config));
}

Json times_json(const DurationHistogram& times) {
  return {{"count", times.count()},
          {"mean_ms", times.mean_ms()},
          {"p50_ms", times.percentile_ms(50)},
          {"p95_ms", times.percentile_ms(95)},
          {"p99_ms", times.percentile_ms(99)},
          {"max_ms", times.max_ms()}};
}

Json drops_json(const QueueCounters& queue) {
  return {{"stale", queue.dropped_stale}, {"closed", queue.dropped_closed}};
}

Json live_json(const LiveMeter& live, const SourceCounters& counters, const StreamEnd& end) {
  return {{"capture_clock", name(live.clock())},
          {"capture_to_patch", times_json(live.since_capture())},
          {"arrival_to_patch", times_json(live.since_arrival())},
          {"packets_late", counters.packets_late},
          {"late_s", static_cast<double>(counters.late_ns) * 1e-9},
          {"gap_count", counters.gaps},
          {"gap_s", static_cast<double>(counters.gaps_ns) * 1e-9},
          {"broke_off", end.broke},
          {"end", end.reason}};
}

Json decode_errors_json(const SourceCounters& counters, const Fault& fault) {
  return {{"packets_corrupt", counters.packets_corrupt},
          {"frames_corrupt", counters.frames_corrupt},
          {"packets_lost", counters.packets_lost},
          {"segments_lost", counters.segments_lost},
          {"truncated", counters.truncated},
          {"pts_made_up", counters.pts_made_up},
          {"pts_not_rising", counters.pts_not_rising},
          {"stream_error", error_text(fault)}};
}

}  // namespace saccade
