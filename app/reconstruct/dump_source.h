// A dump as a source of frames: each emission painted, at its time.
#pragma once

#include <memory>
#include <string>

#include "pipeline/source/frame/frame_source.h"

namespace saccade {

// R'G'B' frames of the dump's own size, painted as `reconstruct` paints them but for its mark; FrameView::sequence is
// the emission. It can be sought. Of `config` only uri and stop are read. Throws InputError as DumpReader, and where
// the dump holds no emission yet.
std::unique_ptr<FrameSource> open_dump_source(const SourceConfig& config);

}  // namespace saccade
