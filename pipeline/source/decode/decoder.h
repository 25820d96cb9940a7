// Frames from anything FFmpeg opens.
#pragma once

#include <memory>

#include "pipeline/source/demux/locate.h"
#include "pipeline/source/frame/frame_source.h"

namespace saccade {

// One file, or one connection of a live stream. Throws InputError for what is wrong with the input, UsageError for what
// is wrong with the options.
std::unique_ptr<FrameSource> open_decoder(const SourceConfig& config, const InputLocation& location);

}  // namespace saccade
