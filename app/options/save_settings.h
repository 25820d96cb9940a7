// What was tuned by eye, as the TOML that --config reads.
#pragma once

#include <string>

#include "app/options/options.h"
#include "pipeline/run/pipeline.h"

namespace saccade {

// The settings as options' values; `saccade dump --config` with them runs this very pipeline.
std::string settings_toml(const PipelineConfig& config);

// `text` as one word of a command line, in quotes where it needs them.
std::string command_word(const std::string& text);

// The command that dumps `given`'s first input with these settings, for a shell script; its output folder is DIR.
std::string dump_command(const Options& given, const PipelineConfig& config);

// Written under a temporary name, then renamed. False: the path exists, and `replace` is not set. Throws Error.
bool save_settings(const PipelineConfig& config, const std::string& path, bool replace = true);

}  // namespace saccade
