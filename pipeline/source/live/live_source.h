// Live streams: what happens when they break.
#pragma once

#include <functional>
#include <memory>

#include "pipeline/source/frame/frame_source.h"

namespace saccade {

// Opens one connection with these settings. Throws as open_source().
using OpenConnection = std::function<std::unique_ptr<FrameSource>(const SourceConfig&)>;

// The settings of one connection of the stream: without start, duration, limits and loops, which are the whole
// stream's, and with a flag that stops it.
SourceConfig connection_config(const SourceConfig& config);

// One stream made of one connection after another. `first` was opened with `connection`. One that breaks is opened
// again, as LiveConfig says, unless `may_return` is false; frames' times then go on from the last one by the clock, or
// by the stream's own time where that has gone on.
std::unique_ptr<FrameSource> follow_connections(const SourceConfig& config, const SourceConfig& connection,
                                                std::unique_ptr<FrameSource> first, OpenConnection open,
                                                bool may_return);

}  // namespace saccade
