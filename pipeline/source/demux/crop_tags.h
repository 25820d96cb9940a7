// The container's own words on which part of the pictures is meant to be seen.
#pragma once

#include "pipeline/source/demux/locate.h"
#include "pipeline/source/ffmpeg/av.h"

namespace saccade {

// Note [Cropping tags]
// MP4 and QuickTime have `clap` (ISO/IEC 14496-12 12.1.4), Matroska PixelCropTop and its three sisters (RFC 9559
// 5.1.4.1.28). FFmpeg passes both on from 7.1 on; before, files on disk are looked at here. Matroska's display size is
// that of the cropped picture, so the shape of a pixel follows from both.
// `video`: its crop is set, and the aspect ratio of Matroska's stream where it is cropped. Nothing happens where there
// are no such tags, or they leave no picture.
void read_crop_tags(const InputLocation& location, VideoStream& video);

}  // namespace saccade
