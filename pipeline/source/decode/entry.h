// Whether decoding that began midway gives the pictures of a whole run.
#pragma once

#include <cstdint>
#include <vector>

#include "pipeline/source/ffmpeg/av.h"

namespace saccade {

// Note [Exact entry]
// A seek lands on what the container calls a key frame. Pictures after it are those of a run from the beginning
// - from a key frame on that the decoder calls one and that is all intra: before it in time, an open GOP's leading
//   pictures lack what they refer to;
// - from an intra picture on as long as the decoder misses nothing, which it would complain of;
// - with intra refresh, after a whole refresh that began with pictures to refer to. The first one may have none: its
//   slices fail, though the decoder calls the pictures after it recovered. So: from the next key packet on, once as
//   much time has passed as the decoder took for its first picture.
// Codecs of which the decoder's word is not known to be good are believed from the first packet's own time on.
class EntryCheck {
 public:
  void begin(AVCodecID codec, std::int64_t complaints);  // after a seek; what the decoder complained of so far
  void stop() { watching_ = false; }
  bool watching() const { return watching_; }
  void note_packet(const AVPacket& packet);
  void note_frame(const AVFrame& frame, std::int64_t complaints);

  bool exact() const { return exact_; }                // the last frame, and all later ones
  bool exact_before() const { return exact_before_; }  // the one before it, too: none is missing between the two
  bool first_was_exact() const { return first_exact_; }
  int frames() const { return frames_; }                       // since begin()
  std::int64_t first_packet() const { return first_packet_; }  // its decode time or place: where the seek led to

 private:
  std::int64_t next_key_after(std::int64_t ts) const;
  bool watching_ = false;
  bool strict_ = false;
  bool exact_ = false;
  bool began_intra_ = false;
  std::int64_t complaints_ = 0;
  bool exact_before_ = false;
  bool first_exact_ = false;
  int frames_ = 0;
  std::int64_t first_packet_ = AV_NOPTS_VALUE;
  std::int64_t first_packet_pts_ = AV_NOPTS_VALUE;
  std::int64_t first_frame_ts_ = AV_NOPTS_VALUE;
  std::vector<std::int64_t> key_pts_;  // of key packets since begin()
};

}  // namespace saccade
