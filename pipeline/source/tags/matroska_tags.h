// Matroska's cropping.
#pragma once

#include "pipeline/source/ffmpeg/av.h"

namespace saccade {

// PixelCropTop and its sisters of the track that the video's stream is. Sets the stream's aspect ratio, too. Nothing
// cropped: there are no such tags, or they leave no picture.
CropTags read_pixel_crop(AVIOContext& io, const VideoStream& video);

}  // namespace saccade
