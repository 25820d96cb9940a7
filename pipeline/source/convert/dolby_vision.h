// Dolby Vision whose base layer is no Y'CbCr.
#pragma once

#include <string>

#include "pipeline/source/ffmpeg/av.h"

struct AVFrame;

namespace saccade {

// A sentence where the samples are IPT-PQ-c2 (profile 5, and 10 and 20 without a compatible base layer), which only a
// Dolby Vision decoder turns into colours; empty for all else. By the container's record, or by the frame's own RPU.
std::string dolby_vision_note(const AVFrame& frame, const AVStream& stream);

}  // namespace saccade
