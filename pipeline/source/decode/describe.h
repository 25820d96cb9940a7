// Fills StreamInfo from what was opened and from the first frame.
#pragma once

#include <string>

#include "pipeline/source/convert/color_tags.h"
#include "pipeline/source/convert/converter.h"
#include "pipeline/source/convert/filters.h"
#include "pipeline/source/decode/playback.h"

namespace saccade {

// From the container, the decoder and the first frame as it was decoded.
void describe_input(const Playback& playback, const AVFrame& frame, const SourceConfig& config, StreamInfo& info);

// What was assumed for lack of tags: from the first frame after resolve_tags().
void describe_tags(const AVFrame& frame, const ResolvedTags& tags, StreamInfo& info);

// What the filters did to reach the first frame.
void describe_filters(const FrameFilters& filters, StreamInfo& info);

// From the first frame as it is delivered; after describe_filters().
void describe_converter(const Converter& converter, const FrameView& view, StreamInfo& info);

}  // namespace saccade
