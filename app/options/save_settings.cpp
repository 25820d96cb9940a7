#include "app/options/save_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "app/options/config.h"
#include "app/options/table.h"
#include "pipeline/error.h"

namespace saccade {
namespace {

std::string policy_text(const ScanpathConfig& scanpath) {
  const char* policy = "saliency";
  switch (scanpath.policy) {
    case FixationPolicy::kSaliency:
      break;
    case FixationPolicy::kCenter:
      policy = "center";
      break;
    case FixationPolicy::kRandom:
      policy = "random";
      break;
    case FixationPolicy::kRaster:
      policy = "raster";
      break;
    case FixationPolicy::kFile:
      policy = "file";
      break;
  }
  return scanpath.argument.empty() ? policy : fmt::format("{}:{}", policy, scanpath.argument);
}

void put_lattice(const LatticeConfig& lattice, GivenValues& values) {
  const auto put = [&](const char* name, std::string text) { values[name] = {std::move(text), ""}; };
  put("lattice", lattice.kind == LatticeKind::kNested ? "nested"
                 : lattice.kind == LatticeKind::kGrid ? "grid"
                                                      : "uniform");
  put("patch-size", fmt::format("{}", lattice.patch_size));
  put("fov-deg", fmt::format("{}", lattice.fovea.fov_deg));
  const bool nested = lattice.kind == LatticeKind::kNested;
  if (lattice.fovea.unit == FoveaUnit::kUv) {
    put("preset", "uv");
  } else {
    if (lattice.fovea.e0) put("e0", fmt::format("{}", *lattice.fovea.e0));
    if (lattice.fovea.m0 && (lattice.fovea.e0 || !nested)) put("m0", fmt::format("{}", *lattice.fovea.m0));
  }
  const bool follows_e0 = lattice.fovea.e0 || lattice.fovea.unit == FoveaUnit::kUv || !lattice.strides.empty();
  const bool chosen = lattice.patches_given || lattice.patches != LatticeConfig{}.patches;
  if (chosen && !(nested && follows_e0)) put("patches", fmt::format("{}", lattice.patches));
  if (nested && !lattice.strides.empty()) {
    put("strides", fmt::format("{}", fmt::join(lattice.strides, ",")));
    put("grid-sizes", fmt::format("{}", fmt::join(lattice.grid_sizes, ",")));
  }
  if (lattice.kind == LatticeKind::kUniform && lattice.uniform_lod >= 0) {
    put("lod", fmt::format("{}", lattice.uniform_lod));
  }
}

}  // namespace

std::string settings_toml(const PipelineConfig& config) {
  GivenValues values;
  const auto put = [&](const char* name, std::string text) { values[name] = {std::move(text), ""}; };
  put("levels", fmt::format("{}", config.levels));
  put("threshold", fmt::format("{}", config.diff.threshold));
  put("min-pixels", fmt::format("{}", config.diff.min_pixels));
  put("noise-floor", fmt::format("{}", config.diff.noise_floor));
  put_lattice(config.lattice, values);
  put("fixation", policy_text(config.scanpath));
  put("rate", fmt::format("{}", config.scanpath.rate_hz));
  put("seed", fmt::format("{}", config.scanpath.seed));
  return write_config(Command::kView, values);
}

void save_settings(const PipelineConfig& config, const std::string& path) {
  const std::string partial = path + ".partial";
  std::ofstream file(partial, std::ios::trunc);
  file << settings_toml(config);
  file.close();
  if (!file || std::rename(partial.c_str(), path.c_str()) != 0) {
    const std::string reason = std::strerror(errno);
    std::remove(partial.c_str());
    throw Error(ErrorKind::kOutput, fmt::format("{}: can't be written: {}", path, reason));
  }
}

}  // namespace saccade
