// Spatial layers of VP9: one picture a packet.
#pragma once

#include <cstdint>
#include <vector>

#include "pipeline/source/ffmpeg/av.h"

namespace saccade {

// Note [Spatial layers]
// A superframe of scalable VP9 holds a picture once in each size, smallest first. FFmpeg's decoder gives all that are
// shown; libvpx, and so every browser, gives the last one. Packets are looked at before they are decoded, their frames
// afterwards. One thread.
class SpatialLayers {
 public:
  void note_packet(const AVPacket& packet);  // of a VP9 stream
  bool hides(const AVFrame& frame);          // a larger one of the same picture follows
  void clear() { pending_.clear(); }

 private:
  struct Picture {
    std::int64_t ts = AV_NOPTS_VALUE;
    int left = 0;  // frames that have not come out yet
  };
  std::vector<Picture> pending_;  // packets of several layers alone
};

// Frames of a VP9 packet that are shown (VP9 bitstream specification 0.6, annex B and 6.2).
int shown_vp9_frames(const std::uint8_t* data, std::size_t size_bytes);

}  // namespace saccade
