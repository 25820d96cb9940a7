// What is said of an input: what was opened, and why it gave no frame.
#pragma once

#include <string>

#include "pipeline/source/decode/times.h"

namespace saccade {

// Fills StreamInfo from the container, the decoder and the first frame as it was decoded.
void describe_input(const TimedFrames& times, const AVFrame& first, const SourceConfig& config, StreamInfo& info);

// Why there was none at all. `logged`: the first error that FFmpeg logged, or empty.
Fault why_no_frame(const TimedFrames& times, const SourceConfig& config, const std::string& logged);

}  // namespace saccade
