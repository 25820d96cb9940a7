// Whether what is named beside an input exists: filters, a format, a pixel format.
#pragma once

#include "pipeline/source/frame/frame_source.h"

namespace saccade {

// Throws the UsageError of open_source(); what the first frame alone can tell is left for then. Any thread.
void check_names(const SourceConfig& config);

}  // namespace saccade
