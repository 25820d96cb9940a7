// Frames from anything FFmpeg opens.
#pragma once

#include <memory>

#include "pipeline/frame_source.h"

namespace saccade {

// Throws InputError for what is wrong with the input, UsageError for what is wrong with the options.
std::unique_ptr<FrameSource> open_decoder(const SourceConfig& config);

}  // namespace saccade
