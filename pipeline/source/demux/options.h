// What a demuxer is told before it opens: transports, limits and time-outs.
#pragma once

#include "pipeline/source/demux/input.h"

namespace saccade {

// What keeps network streams fresh and going.
void add_network_options(const InputLocation& location, const LiveConfig& config, Dictionary& options);

// Flags and limits of `format` itself, before it is opened.
void prepare_format(AVFormatContext& format, const InputLocation& location);

// What a camera's driver chose in place of what was asked for: a sentence; empty: nothing.
std::string other_than_asked(const InputHints& asked, const AVStream& stream);

// In force for this input, in seconds; 0: none.
double open_timeout_s(const InputLocation& location, const LiveConfig& config);
double stall_timeout_s(const InputLocation& location, const LiveConfig& config);

}  // namespace saccade
