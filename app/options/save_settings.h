// What was tuned by eye, as the TOML that --config reads.
#pragma once

#include <string>

#include "pipeline/run/pipeline.h"

namespace saccade {

// The settings as options' values; `saccade dump --config` with them runs this very pipeline.
std::string settings_toml(const PipelineConfig& config);

// Written under a temporary name, then renamed. False: the path exists, and `replace` is not set. Throws Error.
bool save_settings(const PipelineConfig& config, const std::string& path, bool replace = true);

}  // namespace saccade
