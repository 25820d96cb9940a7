#include "app/options/save_settings.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "app/files/whole_file.h"
#include "app/options/config.h"
#include "app/options/options.h"
#include "app/options/table.h"
#include "pipeline/error.h"
#include "pipeline/secrets.h"

namespace saccade {
std::string settings_toml(const PipelineConfig& config) {
  Options options;
  static_cast<StreamOptions&>(options) = options_of(config);
  options.command = Command::kView;
  return write_config(options, true);
}

std::string command_word(const std::string& text) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:,=+-";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// A viewer that loops shows the same frames again; a dump that loops would not end.
std::string dump_command(const Options& viewed, const PipelineConfig& config) {
  Options given = viewed, tuned;
  given.source.loops = 0;
  given.loop_as_number = false;
  static_cast<StreamOptions&>(tuned) = options_of(config);
  std::string line = fmt::format("saccade dump {} -o DIR", command_word(masked_uri(given.inputs.front())));
  for (const ProgramOption& option : option_table()) {
    if (!option.is_of_stream() || !option.is_of(Command::kDump)) continue;
    const auto value = option.print(option.spec().tunable ? tuned : given);
    if (!value || *value == option.spec().default_text) continue;
    if (!option.spec().tunable && !option.spec().shapes_result) continue;
    if (option.is_setting()) {
      line += " --set " + command_word(fmt::format("{}={}", option.spec().name, *value));
    } else if (option.is_flag()) {
      if (*value == "true") line += fmt::format(" --{}", option.spec().name);
    } else {
      line += fmt::format(" --{} {}", option.spec().name, command_word(*value));
    }
  }
  return line;
}

bool save_settings(const PipelineConfig& config, const std::string& path, bool replace) {
  std::error_code ignored;  // a link that leads nowhere exists, too
  if (!replace && std::filesystem::exists(std::filesystem::symlink_status(path, ignored))) return false;
  if (const int fault = replace_file(path, {settings_toml(config)}); fault != 0) fail_to_write(path, fault);
  return true;
}

}  // namespace saccade
