// The rows of stream_options(), a room each.
#pragma once

#include <vector>

#include "pipeline/options/stream_options.h"

namespace saccade {

void add_source_options(std::vector<StreamOption>& rows);
void add_pipeline_options(std::vector<StreamOption>& rows);  // texture, fovea, scanpath, emission

}  // namespace saccade
