#include "app/info/info_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <iterator>
#include <numeric>

#include "app/json/facts_json.h"
#include "pipeline/backend/texture_layout.h"
#include "pipeline/error.h"
#include "pipeline/source/open.h"

namespace saccade {
namespace {

std::int64_t all_level_bytes(const PyramidLayout& layout) {
  std::int64_t bytes = 0;
  for (int p = 0; p < layout.plane_count; ++p) {
    const PlaneLayout& plane = layout.planes[static_cast<std::size_t>(p)];
    for (int level = 0; level < plane.levels; ++level) {
      bytes += std::int64_t{plane.width >> level} * (plane.height >> level) * plane.texel_bytes();
    }
  }
  return bytes;
}

// The fraction with the smallest denominator that is within 1e-6 of `value` (relative): "64:45".
std::string as_ratio(double value) {
  for (int denominator = 1; denominator <= 10000; ++denominator) {
    const double numerator = std::round(value * denominator);
    if (numerator >= 1 && std::fabs(numerator / denominator - value) <= 1e-6 * value) {
      return fmt::format("{:.0f}:{}", numerator, denominator);
    }
  }
  return fmt::format("{:.6g}:1", value);
}

double display_aspect(const FileReport& r) { return r.stream.width_px * r.sar / r.stream.height_px; }

bool is_rgb(const FileReport& r) { return r.layout.format == TextureFormat::kRgba8; }

const char* matrix_rule(const StreamInfo& stream) {
  if (stream.matrix_tagged) return "tagged";
  return default_matrix(stream.width_px, stream.height_px) == ColorMatrix::kBt709
             ? "untagged: the default of 720 lines, or 1280 columns, and more"
             : "untagged: the default below 720 lines and 1280 columns";
}

const char* range_rule(const StreamInfo& stream) { return stream.range_tagged ? "tagged" : "untagged: the default"; }

std::string rotation_text(const StreamInfo& stream) {
  if (stream.rotation_deg == 0 && !stream.mirrored) return "none";
  return fmt::format("{} deg clockwise{}", stream.rotation_deg, stream.mirrored ? ", mirrored" : "");
}

Json texture_json(const FileReport& r) {
  const PlaneLayout& luma = r.layout.planes[0];
  return {{"frame_layout", name(r.stream.layout)}, {"format", name(r.layout.format)},
          {"padded_width_px", luma.width},         {"padded_height_px", luma.height},
          {"tile_cols", r.layout.tiles.cols},      {"tile_rows", r.layout.tiles.rows},
          {"tiles", r.layout.tiles.count()},       {"bytes", r.pyramid_bytes}};
}

void write_stream(const FileReport& r, std::back_insert_iterator<std::string> out) {
  const StreamInfo& s = r.stream;
  fmt::format_to(out, "{}\n", s.uri);
  fmt::format_to(out, "  stream      {} in {}, decoder {}, stream {}{}\n", s.codec, s.container, s.decoder,
                 s.stream_index, s.live ? ", live" : "");
  fmt::format_to(out, "  picture     {}x{} {} coded, {}x{} shown; SAR {}, DAR {}; rotation: {}\n", s.coded_width_px,
                 s.coded_height_px, s.pixel_format, s.width_px, s.height_px, as_ratio(r.sar),
                 as_ratio(display_aspect(r)), rotation_text(s));
  fmt::format_to(out, "  time        {}, {}, {}; first frame at {:.6f} s\n",
                 s.fps > 0 ? fmt::format("{:.3f} frames/s", s.fps) : "rate unknown",
                 s.duration_s ? fmt::format("{:.3f} s", *s.duration_s) : "duration unknown",
                 s.frame_count ? fmt::format("{} frames", *s.frame_count) : "frame count unknown",
                 static_cast<double>(r.start_pts_ns) * 1e-9);
  if (is_rgb(r)) {
    fmt::format_to(out, "  colour      R'G'B'\n");
    return;
  }
  fmt::format_to(out, "  colour      {} ({}), {} range ({}), {} bits\n", name(s.color.matrix), matrix_rule(s),
                 name(s.color.range), range_rule(s), s.color.depth_bits);
}

void write_processing(const FileReport& r, std::back_insert_iterator<std::string> out) {
  const PyramidLayout& layout = r.layout;
  fmt::format_to(out, "  conversion  {}\n",
                 r.stream.filters.empty() ? "none: frames pass straight through" : r.stream.filters);
  for (const std::string& note : r.stream.notes) fmt::format_to(out, "              {}\n", note);
  fmt::format_to(out, "  texture     {} from {}, {}x{} padded, {} levels, {}x{} = {} tiles, {:.1f} MiB\n",
                 name(layout.format), name(r.stream.layout), layout.planes[0].width, layout.planes[0].height,
                 layout.levels, layout.tiles.cols, layout.tiles.rows, layout.tiles.count(),
                 static_cast<double>(r.pyramid_bytes) / 0x1p20);
  fmt::format_to(out, "  lattice     {}\n", r.lattice->describe());
}

}  // namespace

FileReport inspect(const SourceConfig& source_config, const PipelineConfig& pipeline) {
  const auto source = open_source(source_config);
  Frame frame;
  ReadStatus status = ReadStatus::kAgain;
  while (status == ReadStatus::kAgain) status = source->next(frame);
  if (status == ReadStatus::kFailed) throw_fault(source->fault());
  FileReport report;
  report.stream = source->info();
  report.sar = report.stream.sar;
  if (status == ReadStatus::kOk) {
    report.start_pts_ns = frame.view().pts_ns;
    report.sar = static_cast<double>(frame.view().sar);
  }
  const StreamInfo& stream = report.stream;
  try {
    report.layout = texture_layout(stream.width_px, stream.height_px, stream.layout, pipeline.levels);
    report.lattice = make_lattice(pipeline.lattice, {stream.width_px, stream.height_px, report.sar, pipeline.levels});
  } catch (const InputError& error) {
    throw_fault(error.fault(), source_config.uri);
  } catch (const UsageError& error) {
    throw_fault(error.fault(), source_config.uri);
  }
  report.pyramid_bytes = all_level_bytes(report.layout);
  report.pipeline = pipeline;
  return report;
}

std::string to_text(const FileReport& report) {
  std::string text;
  const auto out = std::back_inserter(text);
  write_stream(report, out);
  write_processing(report, out);
  return text;
}

std::string to_json(const FileReport& r) {
  Json json;
  json["input"] = r.stream.uri;
  json["stream"] = stream_json(r.stream);
  json["stream"]["sar"] = r.sar;
  json["stream"]["dar"] = display_aspect(r);
  json["stream"]["start_pts_ns"] = r.start_pts_ns;
  add_decoder(json, r.stream);
  json["texture"] = texture_json(r);
  add_lattice(json, *r.lattice, r.pipeline.lattice, r.layout.levels);
  return json_text(json, 2);
}

}  // namespace saccade
