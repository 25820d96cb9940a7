#include "app/profile/profile_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "app/info/info_machine.h"
#include "app/json/facts_json.h"
#include "app/version.h"

namespace saccade {
namespace {

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }
double ratio(std::int64_t part, std::int64_t whole) {
  return ratio(static_cast<double>(part), static_cast<double>(whole));
}
double mebibytes(std::int64_t bytes) { return static_cast<double>(bytes) / 0x1p20; }

const char* remark(Stage stage) {
  switch (stage) {
    case Stage::kDecode:
      return "on its own thread, beside the rest";
    case Stage::kWait:
      return "for the decode thread";
    case Stage::kFrame:
      return "all the stages above it but those two: the pipeline's time per frame";
    default:
      return "";
  }
}

void write_stages(const ProfileReport& r, std::back_insert_iterator<std::string> out) {
  fmt::format_to(out, "{:<9}{:>8}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}\n", "stage", "count", "mean ms", "p50", "p95",
                 "p99", "max", "of budget");
  for (const Stage stage : r.run.stages) {
    const DurationHistogram& times = r.run.time(stage);
    fmt::format_to(out, "{:<9}{:>8}{:>10.3f}{:>10.3f}{:>10.3f}{:>10.3f}{:>10.3f}{:>9.1f}%", name(stage), times.count(),
                   times.mean_ms(), times.percentile_ms(50), times.percentile_ms(95), times.percentile_ms(99),
                   times.max_ms(), 100 * ratio(times.percentile_ms(99), r.budget_ms));
    fmt::format_to(out, "{}{}\n", *remark(stage) != 0 ? "  " : "", remark(stage));
  }
  for (std::size_t work = 0; work < r.run.device.size(); ++work) {
    const DurationHistogram& times = r.run.device[work];
    if (times.count() == 0) continue;
    fmt::format_to(out, "{:<9}{:>8}{:>10.3f}{:>10.3f}{:>10.3f}{:>10.3f}{:>10.3f}  on the device, {}\n", "",
                   times.count(), times.mean_ms(), times.percentile_ms(50), times.percentile_ms(95),
                   times.percentile_ms(99), times.max_ms(), name(static_cast<DeviceTime::Work>(work)));
  }
  fmt::format_to(out, "budget {:g} ms a frame; p99 of frame is {:.3f} ms: {}\n\n", r.budget_ms, r.frame_p99_ms(),
                 r.over_budget() ? "over" : "within");
}

void write_live(const ProfileReport& r, std::back_insert_iterator<std::string> out) {
  const auto row = [&](const char* what, const DurationHistogram& times) {
    fmt::format_to(out, "{:<11} p50 {:.1f}, p95 {:.1f}, p99 {:.1f}, max {:.1f} ms until the patches were there", what,
                   times.percentile_ms(50), times.percentile_ms(95), times.percentile_ms(99), times.max_ms());
  };
  row("capture", r.run.live.since_capture());
  fmt::format_to(out, " (clock: {})\n", name(r.run.live.clock()));
  row("arrival", r.run.live.since_arrival());
  fmt::format_to(out, "\ngaps        {}, {:.2f} s in all; {} packets ({:.2f} s) left out to catch up\n",
                 r.run.source.gaps, static_cast<double>(r.run.source.gaps_ns) * 1e-9, r.run.source.packets_late,
                 static_cast<double>(r.run.source.late_ns) * 1e-9);
  if (!r.run.end.reason.empty()) fmt::format_to(out, "end         {}\n", r.run.end.reason);
}

void write_damage(const ProfileReport& r, std::back_insert_iterator<std::string> out) {
  const PipelineCounters& c = r.run.pipeline;
  fmt::format_to(out, "damage      mean {:.2f}% of tiles, p95 {:.2f}%; {} of {} tiles in all\n",
                 100 * ratio(c.damaged_tiles, c.tiles), 100 * r.damage_share.percentile(95), c.damaged_tiles, c.tiles);
  fmt::format_to(out, "uploaded    {:.1f} MiB of {:.1f} MiB for whole frames: {:.1f}% saved\n",
                 mebibytes(c.bytes_uploaded), mebibytes(c.bytes_full_upload),
                 100 * (1 - ratio(c.bytes_uploaded, c.bytes_full_upload)));
  fmt::format_to(out, "rectangles  mean {:.1f} a frame, max {}\n", r.rectangles.mean(), r.rectangles.max());
  fmt::format_to(out, "emissions   {} of {} patches; {:.1f}% of the patches changed\n", c.emissions, r.run.patches,
                 100 * ratio(c.patches_changed, c.patches));
  fmt::format_to(out, "queue       mean {:.1f} frames waiting, max {}, room for {}; policy {}\n", r.queue_depth.mean(),
                 r.queue_depth.max(), r.run.queue_capacity, name(r.run.policy));
  fmt::format_to(out, "drops       {} stale, {} at the end\n", r.run.queue.dropped_stale, r.run.queue.dropped_closed);
  if (r.run.source.packets_corrupt + r.run.source.frames_corrupt > 0 || r.run.source.truncated) {
    fmt::format_to(out, "input       {} corrupt packets, {} corrupt frames{}\n", r.run.source.packets_corrupt,
                   r.run.source.frames_corrupt, r.run.source.truncated ? ", cut short" : "");
  }
}

Json with_total(const DurationHistogram& times) {
  Json json = times_json(times);
  json["total_ms"] = times.total_ms();
  return json;
}

Json stages_json(const ProfileReport& r) {
  Json stages;
  for (const Stage stage : r.run.stages) {
    const DurationHistogram& t = r.run.time(stage);
    stages[name(stage)] = with_total(t);
    stages[name(stage)]["budget_share"] = ratio(t.percentile_ms(99), r.budget_ms);
  }
  return stages;
}

Json device_json(const ProfileReport& r) {
  Json device = Json::object();
  for (std::size_t work = 0; work < r.run.device.size(); ++work) {
    if (r.run.device[work].count() > 0)
      device[name(static_cast<DeviceTime::Work>(work))] = with_total(r.run.device[work]);
  }
  return device;
}

Json damage_json(const ProfileReport& r) {
  const PipelineCounters& c = r.run.pipeline;
  return {{"share", ratio(c.damaged_tiles, c.tiles)},
          {"share_p95", r.damage_share.percentile(95)},
          {"damaged_tiles", c.damaged_tiles},
          {"tiles", c.tiles},
          {"bytes_uploaded", c.bytes_uploaded},
          {"bytes_full_upload", c.bytes_full_upload},
          {"upload_saving", 1 - ratio(c.bytes_uploaded, c.bytes_full_upload)},
          {"rectangles_mean", r.rectangles.mean()},
          {"rectangles_max", r.rectangles.max()}};
}

}  // namespace

void ShareHistogram::record(double share) {
  ++bins_[static_cast<std::size_t>(std::lround(std::clamp(share, 0.0, 1.0) * kSteps))];
  ++count_;
}

double ShareHistogram::percentile(double percent) const {
  if (count_ == 0) return 0;
  const auto rank =
      std::max<std::int64_t>(static_cast<std::int64_t>(std::ceil(percent / 100 * static_cast<double>(count_))), 1);
  std::int64_t seen = 0;
  for (std::size_t step = 0; step < bins_.size(); ++step) {
    seen += bins_[step];
    if (seen >= rank) return static_cast<double>(step) / kSteps;
  }
  return 1;
}

void FrameTally::record(std::int64_t value) {
  sum_ += value;
  max_ = std::max(max_, value);
  ++count_;
}

std::string to_text(const ProfileReport& r) {
  std::string text;
  const auto out = std::back_inserter(text);
  const CpuFacts cpu = cpu_facts();
  fmt::format_to(out, "{}: {}x{} {}, decoder {}, backend {}\n", r.run.info.uri, r.run.info.width_px,
                 r.run.info.height_px, name(r.run.info.layout), decoder_text(r.run.info), name(r.run.backend));
  fmt::format_to(out, "{}, {} threads; peak memory {:.1f} MiB\n", cpu.name, cpu.threads,
                 mebibytes(r.peak_resident_bytes));
  fmt::format_to(out, "{} frames in {:.2f} s: {:.1f} frames/s, {:.1f} x real time{}\n\n", r.run.pipeline.frames,
                 r.wall_s, ratio(static_cast<double>(r.run.pipeline.frames), r.wall_s), ratio(r.run.media_s, r.wall_s),
                 r.interrupted ? " (interrupted)" : "");
  write_stages(r, out);
  write_damage(r, out);
  if (r.run.info.live) write_live(r, out);
  return text;
}

std::string to_json(const ProfileReport& r) {
  const CpuFacts cpu = cpu_facts();
  Json json;
  json["saccade"] = version();
  json["input"] = r.run.info.uri;
  json["stream"] = stream_json(r.run.info);
  add_decoder(json, r.run.info);
  json["frames_off_device"] = r.run.source.frames_off_device;
  json["format_changes"] = r.run.source.format_changes;
  json["decode_errors"] = decode_errors_json(r.run.source, r.run.fault);
  json["backend"] = name(r.run.backend);
  json["cpu"] = {{"name", cpu.name}, {"threads", cpu.threads}};
  json["peak_resident_bytes"] = r.peak_resident_bytes;
  json["frames"] = r.run.pipeline.frames;
  json["wall_s"] = r.wall_s;
  json["frames_per_s"] = ratio(static_cast<double>(r.run.pipeline.frames), r.wall_s);
  json["real_time_factor"] = ratio(r.run.media_s, r.wall_s);
  json["budget_ms"] = r.budget_ms;
  json["over_budget"] = r.over_budget();
  json["stages"] = stages_json(r);
  json["device"] = device_json(r);
  json["damage"] = damage_json(r);
  json["emissions"] = {{"count", r.run.pipeline.emissions},
                       {"patches_per_emission", r.run.patches},
                       {"patches", r.run.pipeline.patches},
                       {"patches_changed", r.run.pipeline.patches_changed},
                       {"changed_share", ratio(r.run.pipeline.patches_changed, r.run.pipeline.patches)}};
  json["queue"] = {{"policy", name(r.run.policy)},
                   {"capacity", r.run.queue_capacity},
                   {"depth_mean", r.queue_depth.mean()},
                   {"depth_max", r.queue_depth.max()}};
  if (r.run.info.live) json["live"] = live_json(r.run.live, r.run.source, r.run.end);
  json["drops"] = drops_json(r.run.queue);
  json["interrupted"] = r.interrupted;
  return json_text(json, 2) + "\n";
}

}  // namespace saccade
