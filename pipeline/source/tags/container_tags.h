// The container's own words on how its pictures are meant to be seen: which part of them, and which way up.
#pragma once

#include <string>

#include "pipeline/source/ffmpeg/av.h"

namespace saccade {

// Note [Cropping tags]
// MP4, QuickTime and HEIF have `clap` (ISO/IEC 14496-12 12.1.4), Matroska PixelCropTop and its three sisters (RFC 9559
// 5.1.4.1.28). FFmpeg passes on those of tracks from 7.1 on; before, files on disk are looked at here. Matroska's
// display size is that of the cropped picture, so the shape of a pixel follows from both.

// Note [Transformed items]
// HEIF and AVIF have `irot` and `imir` beside `clap`, which a reader must apply in the order in which the picture's
// item lists them (ISO/IEC 23008-12 6.5.8); animated AVIF has them in the sample entry, as libavif reads and writes
// them. FFmpeg passes on those of items from 7.1 on, irot first. Files on disk are looked at here, and what was read
// replaces FFmpeg's word. What EXIF in such a file says of the orientation is only information there (same clause).

// `file`: FFmpeg's URL of a file on disk, or empty: then FFmpeg's word counts alone. Sets the video's crop, where
// `crop`; the aspect ratio of Matroska's stream where it is cropped; and the stream's display matrix. Nothing happens
// where there are no such tags, or they leave no picture. Returns what the picture is put together by ("grid") where it
// is not a coded picture itself; else empty.
std::string read_container_tags(const std::string& file, bool crop, VideoStream& video);

}  // namespace saccade
