// The one way to a source of frames.
#pragma once

#include <memory>

#include "pipeline/source/decode/check_names.h"
#include "pipeline/source/frame/frame_source.h"

namespace saccade {

// Opens, reads the headers and the first frame (so that info() is true). Throws InputError, UsageError,
// UnavailableError; Error of kInterrupted once config.stop is set.
std::unique_ptr<FrameSource> open_source(const SourceConfig& config);

}  // namespace saccade
