// A video of pictures at their own times: variable frame rate, lossy, for people to look at.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/picture/rgb_image.h"

namespace saccade {

// .mp4, .mov and .mkv hold H.264 (libx264), or MPEG-4 where x264 is missing; .webm holds VP9 or VP8. One thread.
// Written under a temporary name; finish() renames, the destructor removes what was not finished.
class PreviewEncoder {
 public:
  // pts_ns: the time of each picture to come, rising; hold_ns: how long the last one stays. Times are shifted so that
  // none is negative. Odd sizes grow by a grey column or row. Throws Error, UsageError for an unknown suffix.
  PreviewEncoder(std::string output, int width_px, int height_px, std::vector<std::int64_t> pts_ns,
                 std::int64_t hold_ns);
  ~PreviewEncoder();
  PreviewEncoder(const PreviewEncoder&) = delete;
  PreviewEncoder& operator=(const PreviewEncoder&) = delete;

  void add(const RgbImage& image);  // the next picture, of the given size
  void finish();
  const char* encoder_name() const;

  static bool knows_suffix(const std::string& output);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace saccade
