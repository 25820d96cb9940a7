// Decoded frames with their times: start, duration and loops applied.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "pipeline/source/decode/packets.h"
#include "pipeline/source/frame/times.h"

namespace saccade {

// One or more plays of one input. One thread. Opens in the constructor; throws as open_input().
class Playback {
 public:
  Playback(const SourceConfig& config, const std::atomic<bool>& interrupted, SourceCounters& counters);

  // The next frame inside [start, start + duration), its time rising from play to play. kFailed: interrupted.
  ReadStatus next(AVFrame& frame, FrameTime& time);

  // The next frame is the first at or after pts_ns, in the first play's time. False: the input can't go back. Throws as
  // the constructor, when the input has to be opened again.
  bool seek(std::int64_t pts_ns);

  const StreamDecoder& reader() const { return *decoder_; }
  AVFormatContext& format() const { return decoder_->format(); }
  AVStream& stream() const { return decoder_->stream(); }
  AVCodecContext& codec() const { return decoder_->codec(); }
  const std::string& note() const { return decoder_->note(); }
  AVRational frame_rate() const;                        // 0/1 when unknown
  bool gray_is_limited() const;                         // the container's custom, where nothing is tagged
  Fault why_no_frame(const std::string& logged) const;  // why next() gave none at all

 private:
  ReadStatus next_of_play(AVFrame& frame, FrameTime& time);
  ReadStatus decode(AVFrame& frame);
  void begin_play();
  PtsClock new_clock() const;
  void seek_to_start();
  bool start_next_play();
  std::optional<std::int64_t> raw_pts_ns(const AVFrame& frame) const;
  void set_base(std::int64_t base_ns);

  const SourceConfig& config_;
  const std::atomic<bool>& interrupted_;
  SourceCounters& counters_;
  std::unique_ptr<StreamDecoder> decoder_;
  PtsClock clock_{0};
  AvFramePtr peeked_;                    // decoded while seeking, not yet given out
  std::optional<std::int64_t> base_ns_;  // the stream's first time
  std::int64_t start_ns_ = 0;            // valid with base_ns_
  std::int64_t end_ns_ = 0;
  std::int64_t loop_offset_ns_ = 0;
  std::int64_t loops_left_ = 0;
  bool first_of_play_ = true;
  bool past_end_ = false;
  std::int64_t play_frames_ = 0;
  std::int64_t decoded_ = 0;
  std::optional<FrameTime> last_;
};

}  // namespace saccade
