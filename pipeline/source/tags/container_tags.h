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
// them. FFmpeg passes on `irot` and `imir` of items from 8 on, `irot` first. They are looked at here wherever the input
// can be sought in, and what was read replaces FFmpeg's word. What EXIF in such a file says of the orientation is only
// information there (same clause).

struct ContainerTags {
  std::string derivation;     // what puts the picture together from others ("grid"); empty: it is coded itself
  bool items_unread = false;  // a HEIF picture of which neither FFmpeg nor this reader could look at the properties
};

// `file`: FFmpeg's URL of a file on disk, or empty. Sets the video's crop, if `crop`; the aspect ratio of Matroska's
// stream where it is cropped; and the stream's display matrix. Nothing happens where there are no such tags, or they
// leave no picture.
ContainerTags read_container_tags(const std::string& file, bool crop, VideoStream& video);

}  // namespace saccade
