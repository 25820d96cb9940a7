#include "app/options/save_settings.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

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

bool save_settings(const PipelineConfig& config, const std::string& path, bool replace) {
  std::error_code ignored;  // a link that leads nowhere exists, too
  if (!replace && std::filesystem::exists(std::filesystem::symlink_status(path, ignored))) return false;
  const std::string partial = path + ".partial";
  std::ofstream file(partial, std::ios::trunc);
  file << settings_toml(config);
  file.close();
  if (!file || std::rename(partial.c_str(), path.c_str()) != 0) {
    const std::string reason = std::strerror(errno);
    std::remove(partial.c_str());
    throw Error(ErrorKind::kOutput, fmt::format("{}: can't be written: {}", path, reason));
  }
  return true;
}

}  // namespace saccade
