// What goes from one input of this process to the next.
#pragma once

#include "app/options/options.h"

namespace saccade {

// Whether frames are decoded where the texture is.
bool decodes_on_texture_device(const Options& options);

// On a GPU: at most so many of its decoders, where they can be kept (gpu/nvdec/kept_decoders.h); DumpTask sees to it
// that no pixel of one input gets into another. 0: none, but what the GPU could not decode counts as damage. Before the
// first input is opened.
void keep_between_inputs(const Options& options, int most);

}  // namespace saccade
