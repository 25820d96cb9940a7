#include "app/dump/meta.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "app/options/hint_flags.h"
#include "app/version.h"
#include "pipeline/error.h"

namespace saccade {
namespace {

// The double nearest to the float's shortest decimal: 0.485f is written as 0.485.
double decimal(float value) { return std::strtod(fmt::format("{}", value).c_str(), nullptr); }

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json stream_json(const StreamInfo& s) {
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
          {"fps", s.fps},
          {"duration_s", or_null(s.duration_s)},
          {"frame_count", or_null(s.frame_count)},
          {"live", s.live},
          {"layout", name(s.layout)},
          {"matrix", name(s.color.matrix)},
          {"matrix_tagged", s.matrix_tagged},
          {"range", name(s.color.range)},
          {"range_tagged", s.range_tagged},
          {"depth_bits", s.color.depth_bits},
          {"chroma_site_shift", {decimal(s.color.site_shift_x), decimal(s.color.site_shift_y)}},
          {"filters", s.filters},
          {"notes", s.notes}};
}

Json fovea_json(const shared::FoveaParams& fovea, FoveaUnit unit) {
  return {{"unit", name(unit)},
          {"m0", decimal(fovea.m0)},
          {"e0", decimal(fovea.e0)},
          {"unit_per_px_x", decimal(fovea.unit_per_px_x)},
          {"unit_per_px_y", decimal(fovea.unit_per_px_y)},
          {"max_lod", decimal(fovea.max_lod)}};
}

Json stages_json(const DumpFacts& facts) {
  Json stages;
  for (const Stage stage : facts.session.stages) stages[name(stage)] = times_json(facts.session.time(stage));
  stages[name(Stage::kWrite)] = times_json(facts.write_times);
  return stages;
}

double share(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0.0;
}

std::string counted(std::int64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace

Json times_json(const DurationHistogram& times) {
  return {{"count", times.count()},
          {"mean_ms", times.mean_ms()},
          {"p50_ms", times.percentile_ms(50)},
          {"p95_ms", times.percentile_ms(95)},
          {"p99_ms", times.percentile_ms(99)},
          {"max_ms", times.max_ms()}};
}

Json meta_identity(const Options& options, const InputIdentity& input) {
  Json in_force = Json::object();
  for (const auto& [key, text] : options.in_force) in_force[key] = text;
  Json sha256 = input.sha256.empty() ? Json(nullptr) : Json(input.sha256);
  const ScanpathConfig& scanpath = options.pipeline.scanpath;
  Json fixations = scanpath.policy == FixationPolicy::kFile ? Json(file_sha256(scanpath.argument)) : Json(nullptr);
  return {{"format", kDumpFormat},
          {"schema", kSchemaVersion},
          {"saccade", version()},
          {"input", {{"name", input.name}, {"uri", input.uri}, {"size", or_null(input.size)}, {"sha256", sha256}}},
          {"fixation_sha256", fixations},
          {"options", in_force}};
}

Json make_meta(const Options& options, const InputIdentity& input, const StreamInfo& info, const Pipeline& pipeline) {
  const PipelineConfig& config = pipeline.config();
  const SampleFormat& samples = config.samples;
  Json meta = meta_identity(options, input);
  if (meta["options"].contains("threshold")) meta["options"]["threshold"] = std::to_string(config.diff.threshold);
  meta["stream"] = stream_json(info);
  meta["backend"] = name(config.backend);
  meta["backend_reason"] = options.backend_reason;
  meta["decoder"] = info.decoder;
  meta["hwdec"] = info.hwdec;
  meta["hwdec_reason"] = info.hwdec_reason;
  meta["patches"] = pipeline.lattice().patch_count();
  meta["patch_size"] = config.lattice.patch_size;
  meta["dtype"] = name(samples.type);
  Json mean = Json::array(), deviation = Json::array();
  for (std::size_t c = 0; c < 3; ++c) {
    mean.push_back(decimal(samples.mean[c]));
    deviation.push_back(decimal(1.0F / samples.inv_std[c]));
  }
  meta["mean"] = mean;
  meta["std"] = deviation;
  meta["levels"] = config.levels;
  meta["lattice"] = pipeline.lattice().describe();
  meta["fovea"] = fovea_json(pipeline.lattice().fovea(), fovea_unit(config.lattice));
  return meta;
}

Json live_json(const LiveMeter& live, const SourceCounters& counters, const StreamEnd& end) {
  return {{"capture_clock", name(live.clock())},
          {"capture_to_patch", times_json(live.since_capture())},
          {"arrival_to_patch", times_json(live.since_arrival())},
          {"packets_late", counters.packets_late},
          {"gap_count", counters.gaps},
          {"gap_s", static_cast<double>(counters.gaps_ns) * 1e-9},
          {"broke_off", end.broke},
          {"end", end.reason}};
}

bool input_damaged(const SessionFacts& facts) {
  const SourceCounters& counters = facts.source;
  return counters.packets_corrupt > 0 || counters.frames_corrupt > 0 || counters.truncated || !facts.fault.what.empty();
}

std::string damage_summary(const SessionFacts& facts) {
  const SourceCounters& counters = facts.source;
  std::string text;
  const auto add = [&text](const std::string& part) { text += text.empty() ? part : ", " + part; };
  if (counters.packets_corrupt > 0) add(counted(counters.packets_corrupt, "corrupt packet"));
  if (counters.frames_corrupt > 0) add(counted(counters.frames_corrupt, "corrupt frame"));
  const StreamEnd& end = facts.end;
  if (counters.truncated) add(facts.info.live && end.broke ? "it broke off: " + end.reason : "cut short");
  if (!facts.fault.what.empty()) add(error_text(facts.fault));
  return text;
}

Json make_manifest(const DumpFacts& facts) {
  const SessionFacts& session = facts.session;
  const PipelineCounters& totals = session.pipeline;
  const SourceCounters& source = session.source;
  Json manifest = {{"format", kDumpFormat}, {"schema", kSchemaVersion}, {"complete", true}};
  manifest["emissions"] = totals.emissions;
  manifest["frames_decoded"] = source.frames;
  manifest["frames"] = totals.frames;
  manifest["drops"] = {{"stale", session.queue.dropped_stale}, {"closed", session.queue.dropped_closed}};
  manifest["queue_policy"] = name(session.policy);
  if (session.info.live) {
    manifest["live"] = live_json(session.live, source, session.end);
    manifest["live"]["gaps"] = Json::array();
    for (const StreamGap& gap : session.gaps) {
      manifest["live"]["gaps"].push_back(
          {{"emission", gap.emission}, {"frame", gap.frame}, {"pts_ns", gap.pts_ns}, {"length_s", gap.length_s}});
    }
  }
  manifest["decode_errors"] = {{"packets_corrupt", source.packets_corrupt},
                               {"frames_corrupt", source.frames_corrupt},
                               {"truncated", source.truncated},
                               {"pts_made_up", source.pts_made_up},
                               {"pts_not_rising", source.pts_not_rising},
                               {"stream_error", error_text(session.fault)}};
  manifest["input_damaged"] = input_damaged(session);
  manifest["format_changes"] = source.format_changes;
  manifest["frames_off_card"] = source.frames_off_card;
  manifest["wall_s"] = facts.wall_s;
  manifest["media_s"] = session.media_s;
  manifest["frames_per_s"] = facts.wall_s > 0 ? static_cast<double>(totals.frames) / facts.wall_s : 0.0;
  manifest["damage_share"] = share(totals.damaged_tiles, totals.tiles);
  manifest["damaged_tiles"] = totals.damaged_tiles;
  manifest["tiles"] = totals.tiles;
  manifest["bytes_uploaded"] = totals.bytes_uploaded;
  manifest["bytes_full_upload"] = totals.bytes_full_upload;
  manifest["bytes_written"] = facts.bytes_written;
  manifest["patches_changed"] = totals.patches_changed;
  manifest["stages"] = stages_json(facts);
  return manifest;
}

std::string json_text(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Json read_json(const std::string& path) {
  std::ifstream file(path);
  if (!file) return nullptr;
  Json json = Json::parse(file, nullptr, false);
  return json.is_discarded() ? Json(nullptr) : json;
}

void write_json(const std::string& path, const Json& json) {
  const std::string temporary = path + ".tmp";
  const std::string text = json_text(json, 2) + "\n";
  std::FILE* file = std::fopen(temporary.c_str(), "wbe");
  bool ok = file != nullptr;
  if (ok) {
    ok = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    ok = std::fflush(file) == 0 && ok;
    const int fault = errno;
    ok = std::fclose(file) == 0 && ok;
    if (!ok && fault != 0) errno = fault;
  }
  if (!ok || std::rename(temporary.c_str(), path.c_str()) != 0) {
    const std::string reason = std::strerror(errno);
    std::remove(temporary.c_str());
    throw Error(ErrorKind::kOutput,
                fmt::format("{}: could not be written: {}; free some space or choose another -o", path, reason));
  }
}

}  // namespace saccade
