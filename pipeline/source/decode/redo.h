// Damaged pictures decoded once more, into clean memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "pipeline/source/ffmpeg/av.h"
#include "pipeline/source/frame/frame.h"

namespace saccade {

// Note [Clean damage]
// A decoder leaves what it can't decode as it finds it: a buffer that held another picture, which one is chance. Seeing
// to every buffer would cost each picture; so those that were in work when the decoder complained are decoded once
// more, by a decoder of their own, over a copy of the picture before (the first one over zeros). Only of codecs whose
// packets are pictures by themselves, and not of live streams, whose packets are a driver's memory. One thread.
class CleanRedo {
 public:
  // `decoder`: opened, for `stream`.
  CleanRedo(const AVCodecContext& decoder, const AVStream& stream, bool live);
  bool watches() const { return watches_; }

  void clear();  // after a seek
  void note_packet(const AVPacket& packet);
  // After each frame. `complaints`: of the decoder, so far. In place, where the frame is under suspicion.
  void check(AVFrame& frame, std::int64_t complaints);

 private:
  struct Sent {
    PacketPtr packet;
    std::int64_t number = 0;
  };
  void redo(AVFrame& frame, const AVPacket& packet) const;
  void check_one(AVFrame& frame);

  const AVCodecContext& decoder_;
  const AVStream& stream_;
  const std::size_t most_sent_;  // as many as it holds back
  const bool watches_;
  AvFramePtr before_;      // the last picture given, or empty
  std::deque<Sent> sent_;  // packets whose frames have not come out
  std::int64_t count_ = 0;
  std::int64_t complaints_ = 0;
  std::int64_t suspect_until_ = -1;  // the last packet that was in work at a complaint
};

}  // namespace saccade
