#include "app/options/save_settings.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "app/options/config.h"
#include "app/options/options.h"
#include "pipeline/error.h"

namespace saccade {
std::string settings_toml(const PipelineConfig& config) {
  Options options;
  static_cast<StreamOptions&>(options) = options_of(config);
  options.command = Command::kView;
  return write_config(options, true);
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
