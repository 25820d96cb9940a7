// One picture as a PNG file, by FFmpeg's encoder.
#pragma once

#include <string>

#include "app/media/image.h"

namespace saccade {

// Writes under a temporary name, then renames: the file is whole or absent. Throws Error.
void write_png(const RgbImage& image, const std::string& output);

}  // namespace saccade
