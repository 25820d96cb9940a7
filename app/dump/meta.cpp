#include "app/dump/meta.h"

#include <fmt/format.h>

#include "app/json/facts_json.h"
#include "app/options/hint_flags.h"
#include "app/version.h"
#include "pipeline/error.h"

namespace saccade {
namespace {

Json stages_json(const DumpResult& facts) {
  Json stages;
  for (const Stage stage : facts.session.stages) stages[name(stage)] = times_json(facts.session.time(stage));
  stages[name(Stage::kWrite)] = times_json(facts.write_times);
  return stages;
}

double share(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0.0;
}

}  // namespace

Json meta_identity(const Options& options, const InputIdentity& input) {
  Json in_force = Json::object();
  for (const auto& [key, text] : options.in_force) in_force[key] = text;
  Json sha256 = input.sha256.empty() ? Json(nullptr) : Json(input.sha256);
  const ScanpathConfig& scanpath = options.pipeline.scanpath;
  Json fixations = scanpath.policy == FixationPolicy::kFile ? Json(file_sha256(scanpath.argument)) : Json(nullptr);
  Json identity = {
      {"format", kDumpFormat},
      {"schema", kSchemaVersion},
      {"saccade", version()},
      {"input", {{"name", input.name}, {"uri", input.uri}, {"size", or_null(input.size)}, {"sha256", sha256}}},
      {"fixation_sha256", fixations},
      {"options", in_force}};
  for (const std::string& mask : scanpath.ignore.mask_files) identity["ignore_sha256"].push_back(file_sha256(mask));
  return identity;
}

// What became of a gaze file's rows.
Json gaze_json(const RecordingFacts& facts) {
  return {{"format", facts.format},
          {"units", facts.units},
          {"samples", facts.samples},
          {"rows", facts.rows},
          {"used", facts.used},
          {"missing", facts.missing},
          {"off_screen", facts.off_screen},
          {"unsure", facts.unsure},
          {"no_fixation", facts.others},
          {"joined", facts.repeated},
          {"clock_begins_s", facts.clock_begins_s},
          {"counted_from_first_row", facts.counted_from_first},
          {"begins_s", facts.begins_s},
          {"ends_s", facts.ends_s}};
}

Json make_meta(const Options& options, const InputIdentity& input, const StreamInfo& info, const Pipeline& pipeline) {
  const PipelineConfig& config = pipeline.config();
  const SampleFormat& samples = config.samples;
  Json meta = meta_identity(options, input);
  if (meta["options"].contains("threshold")) meta["options"]["threshold"] = std::to_string(config.diff.threshold);
  meta["stream"] = stream_json(info);
  meta["backend"] = name(config.backend);
  meta["backend_reason"] = options.backend_reason;
  add_decoder(meta, info);
  add_lattice(meta, pipeline.lattice(), config.lattice, config.levels);
  if (const RecordingFacts* recording = pipeline.recording()) meta["gaze"] = gaze_json(*recording);
  meta["dtype"] = name(samples.type);
  if (options.dump.compact.value_or(false)) meta["compact"] = true;
  Json mean = Json::array(), deviation = Json::array();
  for (std::size_t c = 0; c < 3; ++c) {
    mean.push_back(decimal(samples.mean[c]));
    deviation.push_back(decimal(1.0F / samples.inv_std[c]));
  }
  meta["mean"] = mean;
  meta["std"] = deviation;
  return meta;
}

std::string damage_summary(const SessionFacts& facts) {
  const SourceCounters& counters = facts.source;
  std::string text = counters.damage();
  const auto add = [&text](const std::string& part) { text += text.empty() ? part : ", " + part; };
  const StreamEnd& end = facts.end;
  if (counters.truncated) add(facts.info.live && end.broke ? "lost connection: " + end.reason : "cut short");
  if (!facts.fault.what.empty()) add(error_text(facts.fault));
  return text;
}

Json make_manifest(const DumpResult& facts) {
  const SessionFacts& session = facts.session;
  const PipelineCounters& totals = session.pipeline;
  const SourceCounters& source = session.source;
  Json manifest = {{"format", kDumpFormat}, {"schema", kSchemaVersion}, {"complete", true}};
  manifest["emissions"] = totals.emissions;
  manifest["frames_decoded"] = source.frames;
  manifest["frames"] = totals.frames;
  manifest["drops"] = drops_json(session.queue);
  manifest["queue_policy"] = name(session.policy);
  if (session.info.live) {
    manifest["live"] = live_json(session.live, source, session.end);
    manifest["live"]["gaps"] = Json::array();
    for (const StreamGap& gap : session.gaps) {
      manifest["live"]["gaps"].push_back(
          {{"emission", gap.emission}, {"frame", gap.frame}, {"pts_ns", gap.pts_ns}, {"length_s", gap.length_s}});
    }
  }
  manifest["decode_errors"] = decode_errors_json(source, session.fault);
  manifest["input_damaged"] = session.damaged();
  manifest["format_changes"] = source.format_changes;
  manifest["frames_off_device"] = source.frames_off_device;
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

}  // namespace saccade
