// One picture as a PNG file, by FFmpeg's encoder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/picture/rgb_image.h"

namespace saccade {

// The file's bytes. output: what an Error names.
std::vector<std::uint8_t> encode_png(const RgbImage& image, const std::string& output);

// Writes under a temporary name, then renames: the file is whole or absent. Throws Error.
void write_png(const RgbImage& image, const std::string& output);

}  // namespace saccade
