// The two things read here of EXIF and TIFF: which way up a picture is, and how many pages a file has; chunks of PNG.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace saccade {

using Bytes = std::span<const std::uint8_t>;

// Where a JPEG, a PNG or a WebP holds its EXIF: a part of `data`, a whole coded picture, as far as it is there. Empty:
// it has none. A PNG may begin behind its signature.
Bytes find_jpeg_exif(Bytes data);
Bytes find_png_exif(Bytes data);
Bytes find_webp_exif(Bytes data);

// The segments of a JPEG before its scan (ITU-T T.81 B.1.1.3): marker and content, as far as it is there.
std::vector<std::pair<std::uint8_t, Bytes>> jpeg_segments(Bytes data);

// The content of the first chunk of this kind in a PNG, as find_png_exif().
Bytes find_png_chunk(Bytes data, std::string_view wanted);

// Tag 274 of the first directory: 1 to 8; 0 where there is none or it is damaged. `tiff`: a TIFF or BigTIFF file, or
// EXIF, with or without "Exif\0\0" before it.
int read_orientation(Bytes tiff);

// Directories that are pages of their own: not the smaller copies and masks of others (TIFF 6.0, NewSubfileType).
int count_pages(Bytes tiff);

}  // namespace saccade
