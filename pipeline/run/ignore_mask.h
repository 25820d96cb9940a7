// The picture that masks saliency, read from a file.
#pragma once

#include <memory>
#include <string>

#include "pipeline/gaze/ignore.h"

namespace saccade {

// White (a channel of 128 or more) is ignored, black and transparent are not. Any picture that a source opens; of a
// video the first frame. Throws InputError naming the mask.
std::shared_ptr<const IgnoreMask> read_ignore_mask(const std::string& path);

// Reads those of regions.mask_files that have no mask yet.
void read_masks(IgnoreRegions& regions);

}  // namespace saccade
