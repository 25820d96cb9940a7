// The transformations of a picture in ISO/IEC 14496-12 files: MP4, QuickTime, HEIF, AVIF.
#pragma once

#include <optional>
#include <string>

#include "pipeline/source/ffmpeg/av.h"
#include "pipeline/source/ffmpeg/orientation.h"

namespace saccade {

struct Mp4Tags {
  CropTags crop;                           // of `clap`, of the picture as it is stored
  std::optional<Orientation> orientation;  // of `irot` and `imir`; none: there are no such boxes
  bool is_item = false;                    // a picture of HEIF, not a track
  std::string derivation;                  // the primary item's type, where it is made from other items: "grid"
};

// Of the track that the video's stream is, or of the primary item. Damaged boxes are left out.
Mp4Tags read_mp4_tags(AVIOContext& io, const VideoStream& video);

}  // namespace saccade
