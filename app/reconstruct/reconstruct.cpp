// saccade reconstruct: from a dump back to pictures, and how true they are.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/commands.h"
#include "app/media/png.h"
#include "app/media/video_encoder.h"
#include "app/options/options.h"
#include "app/process/exit_code.h"
#include "app/process/stop_signal.h"
#include "app/reconstruct/against.h"
#include "app/reconstruct/dump.h"
#include "app/reconstruct/emission_painter.h"
#include "app/reconstruct/html_page.h"
#include "kernels/picture/paint.h"
#include "pipeline/error.h"

namespace saccade {
namespace {

bool is_png(const std::string& output) { return std::filesystem::path(output).extension() == ".png"; }

bool is_html(const std::string& output) { return std::filesystem::path(output).extension() == ".html"; }

void check_output(const ReconstructOptions& options) {
  if (options.output.empty()) {
    if (options.against.empty())
      throw UsageError("reconstruct: nothing to do; give -o FILE.mp4, -o FILE.html, -o FILE.png or --against VIDEO");
    if (options.emission) throw UsageError(OfOption("emission"), "says which one to paint; add -o FILE.png");
    return;
  }
  if (!is_png(options.output) && !is_html(options.output) && !PreviewEncoder::knows_suffix(options.output)) {
    throw UsageError(OfOption("output", options.output),
                     "unknown kind of picture; use .png, .mp4, .mkv, .webm or .html");
  }
  if (options.emission && !is_png(options.output)) {
    throw UsageError(OfOption("emission"), "a film shows all emissions; give -o FILE.png for one of them");
  }
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(options.output, error);
  if (status.type() == std::filesystem::file_type::none) {
    throw UsageError(OfOption("output", options.output), error.message() + "; choose another name");
  }
  if (std::filesystem::is_directory(status)) {
    throw UsageError(OfOption("output", options.output), "is a directory; give a file's name");
  }
  if (std::filesystem::exists(status) && !options.overwrite) {
    throw UsageError(OfOption("output", options.output), "exists already; give --overwrite or another name");
  }
}

// At the size at which they are shown.
EmissionPainter shown_painter(const DumpReader& dump, const ReconstructOptions& options) {
  const DumpFacts& facts = dump.facts();
  return {dump, displayed_size(facts.width_px, facts.height_px, facts.sar), options.memory};
}

struct Painted {
  std::int64_t emissions = 0;
  std::int64_t first = 0;
  int width = 0, height = 0;
  std::string encoder;
};

Painted paint_png(const DumpReader& dump, const ReconstructOptions& options) {
  const std::int64_t emission = options.emission.value_or(dump.emissions() / 2);
  if (emission < 0 || emission >= dump.emissions()) {
    throw UsageError(OfOption("emission", fmt::to_string(emission)),
                     fmt::format("the dump has emissions 0 to {}", dump.emissions() - 1));
  }
  EmissionPainter painter = shown_painter(dump, options);
  write_png(painter.paint_marked(emission), options.output);
  return {1, emission, painter.width(), painter.height(), "png"};
}

Painted paint_video(const DumpReader& dump, const ReconstructOptions& options, const StopSignal& stop) {
  std::vector<std::int64_t> pts_ns;
  for (std::int64_t e = 0; e < dump.emissions(); ++e) pts_ns.push_back(dump.index(e).pts_ns);
  EmissionPainter painter = shown_painter(dump, options);
  const std::int64_t last_ns = hold_ns(pts_ns);
  PreviewEncoder encoder(options.output, painter.width(), painter.height(), std::move(pts_ns), last_ns);
  Painted painted{0, 0, painter.width(), painter.height(), encoder.encoder_name()};
  for (std::int64_t e = 0; e < dump.emissions() && !stop.requested(); ++e) {
    encoder.add(painter.paint_marked(e));
    ++painted.emissions;
  }
  if (painted.emissions < dump.emissions()) {
    throw Error(ErrorKind::kInterrupted, fmt::format("{}: interrupted after {} of {} emissions; nothing was written",
                                                     options.output, painted.emissions, dump.emissions()));
  }
  encoder.finish();
  return painted;
}

Painted paint_page(const DumpReader& dump, const ReconstructOptions& options, const StopSignal& stop) {
  const PageFacts page = write_html_page(dump, options.output, options.memory, [&stop] { return stop.requested(); });
  return {page.emissions, 0, page.width, page.height, page.encoder};
}

// JSON has no infinity: an exact region has a null PSNR and an MSE of 0.
nlohmann::ordered_json to_json(const RegionError& error) {
  nlohmann::ordered_json json;
  const auto decibel = [](double value) {
    return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
  };
  json["emissions"] = error.emissions();
  json["mse"] = error.mse();
  json["psnr_db"] = decibel(error.mean_psnr_db());
  json["worst_mse"] = error.worst_mse();
  json["worst_psnr_db"] = decibel(error.worst_psnr_db());
  return json;
}

std::string decibels(double value) { return std::isfinite(value) ? fmt::format("{:.2f} dB", value) : "inf (exact)"; }

void print_region(const char* title, const RegionError& error, const std::string& explanation) {
  if (error.emissions() == 0) return;
  fmt::print("  {:<7} {:>11}   worst {:>11}   {}\n", title, decibels(error.mean_psnr_db()),
             decibels(error.worst_psnr_db()), explanation);
}

void print_text(const DumpReader& dump, const ReconstructOptions& options, const std::optional<Painted>& painted,
                const std::optional<Comparison>& compared) {
  if (painted) {
    const std::string what = is_png(options.output) ? fmt::format("emission {}", painted->first)
                                                    : fmt::format("{} emissions", painted->emissions);
    fmt::print("{}: {} of {}, {}x{}, {}\n", options.output, what, options.directory, painted->width, painted->height,
               painted->encoder);
  }
  if (!compared) return;
  fmt::print("{} against {}: {} of {} emissions, matched by {}\n", options.directory, options.against,
             compared->matched, dump.emissions(), compared->by_time ? "time" : "frame number");
  print_region("fovea", compared->fovea,
               fmt::format("PSNR where e <= {:.3g} {}", compared->fovea_radius, dump.facts().fovea_unit));
  print_region("native", compared->native, "PSNR where a patch of full resolution is on top");
  print_region("frame", compared->frame, "PSNR everywhere");
}

void print_json(const DumpReader& dump, const ReconstructOptions& options, const std::optional<Painted>& painted,
                const std::optional<Comparison>& compared, bool interrupted) {
  nlohmann::ordered_json json;
  json["dump"] = options.directory;
  json["input"] = dump.facts().uri;
  json["complete"] = dump.complete();
  json["emissions"] = dump.emissions();
  if (painted) {
    json["output"] = {{"path", options.output},
                      {"encoder", painted->encoder},
                      {"width_px", painted->width},
                      {"height_px", painted->height},
                      {"emissions", painted->emissions}};
    if (is_png(options.output)) json["output"]["emission"] = painted->first;
  }
  if (compared) {
    json["against"] = {{"video", options.against},
                       {"matched", compared->matched},
                       {"matched_by", compared->by_time ? "time" : "frame"},
                       {"fovea_radius", compared->fovea_radius}};
    json["against"]["fovea"] = to_json(compared->fovea);
    json["against"]["native"] = to_json(compared->native);
    json["against"]["frame"] = to_json(compared->frame);
  }
  json["interrupted"] = interrupted;
  fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

}  // namespace

int run_reconstruct(const Options& options) {
  const ReconstructOptions& reconstruct = options.reconstruct;
  check_output(reconstruct);
  const DumpReader dump(reconstruct.directory);
  if (dump.emissions() == 0) throw InputError(fmt::format("{}: the dump has no emissions yet", reconstruct.directory));
  if (!dump.complete()) {
    spdlog::warn("{}: the dump is incomplete (no manifest.json); what it holds is used: {} emissions",
                 reconstruct.directory, dump.emissions());
  }
  StopSignal stop([] {});  // the loops below look at it
  std::optional<Painted> painted;
  if (!reconstruct.output.empty()) {
    painted = is_png(reconstruct.output)    ? paint_png(dump, reconstruct)
              : is_html(reconstruct.output) ? paint_page(dump, reconstruct, stop)
                                            : paint_video(dump, reconstruct, stop);
  }
  std::optional<Comparison> compared;
  if (!reconstruct.against.empty() && !stop.requested()) {
    SourceConfig config = options.source;
    config.uri = reconstruct.against;
    compared = compare(dump, config, reconstruct.memory, [&] { return stop.requested(); });
  }
  if (options.json) {
    print_json(dump, reconstruct, painted, compared, stop.requested());
  } else {
    print_text(dump, reconstruct, painted, compared);
  }
  return static_cast<int>(stop.requested() ? ExitCode::kInterrupted : ExitCode::kOk);
}

}  // namespace saccade
