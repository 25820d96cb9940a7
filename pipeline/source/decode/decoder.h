// Frames from anything FFmpeg opens.
#pragma once

#include <memory>

#include "pipeline/source/frame/frame_source.h"

namespace saccade {

// One connection, one file: open_source() adds what live streams need.
// Throws InputError for what is wrong with the input, UsageError for what is wrong with the options.
std::unique_ptr<FrameSource> open_decoder(const SourceConfig& config);

}  // namespace saccade
