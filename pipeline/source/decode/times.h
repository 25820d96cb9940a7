// The third stage: decoded frames with their times. Start, duration and loops are applied here.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "pipeline/source/decode/packets.h"
#include "pipeline/source/decode/rising.h"
#include "pipeline/source/frame/arrival_clock.h"
#include "pipeline/source/frame/pts_clock.h"
#include "pipeline/source/frame/sender_clock.h"

namespace saccade {

// Note [Capture time]
// A camera's driver stamps its frames by this machine's clock, and FFmpeg gives those stamps on as PTS. RTSP senders
// tell by RTCP which wall-clock time the stream's zero has. Both count only when they put the capture before
// the arrival, by less than ten seconds; otherwise the arrival stands in.

// One or more plays of one input, which each play and a seek may open again. Owns the stage before it. One thread.
class TimedFrames {
 public:
  // Opens; throws as PacketDecoder. All but `location` is borrowed.
  TimedFrames(const SourceConfig& config, const InputLocation& location, const FfmpegLog& log,
              const std::atomic<bool>& interrupted, SourceCounters& counters);

  // The next frame inside [start, start + duration), its time rising from play to play. Interlaced ones come with their
  // neighbours outside the span: FrameTime::neighbour. A live frame carries its origin: see attach_origin(). kFailed:
  // it was interrupted.
  ReadStatus next(AVFrame& frame, FrameTime& time);

  // The next frame is the first at or after pts_ns, in the first play's time. False: the input can't go back. Throws as
  // the constructor, when the input has to be opened again.
  bool seek(std::int64_t pts_ns);

  StreamEnd end() const { return packets_ ? packets_->end() : StreamEnd{}; }  // after kEnd
  const PacketDecoder& packets() const { return *packets_; }
  const Demuxer& demuxer() const { return packets_->demuxer(); }
  const VideoStream& video() const { return packets_->video(); }
  bool any_decoded() const { return decoded_ > 0; }  // also before the start

 private:
  ReadStatus next_of_play(AVFrame& frame, FrameTime& time);
  void begin_play();
  PtsClock new_clock() const;
  void enter_at_start();
  void seek_to_start();
  bool seek_before(std::int64_t ns);
  void seek_back();
  bool enters_badly(const AVFrame* frame, bool reached);
  bool needs_neighbours(const AVFrame& frame) const;
  void put_neighbour_first(AVFrame& frame, FrameTime& time);
  bool start_next_play();
  std::optional<std::int64_t> raw_pts_ns(const AVFrame& frame) const;
  std::optional<std::int64_t> stamp_ns(const AVFrame& frame);
  FrameOrigin origin_of(const AVFrame& frame, const FrameTime& time) const;
  FrameTime time_of(const AVFrame& frame);
  void set_base(std::int64_t base_ns);
  void open();

  const SourceConfig& config_;
  const InputLocation location_;
  const FfmpegLog& log_;
  const std::atomic<bool>& interrupted_;
  SourceCounters& counters_;
  std::unique_ptr<PacketDecoder> packets_;  // null: opening it again failed
  RisingStamps stamps_;
  std::optional<std::int64_t> latest_entry_byte_;  // an entry behind it is another place with the same stamp
  PtsClock clock_{0};
  SenderClock sender_;                             // of a live stream
  bool sender_stepped_ = false;                    // which was logged
  ArrivalClock arrivals_;                          // of a stream without times
  std::optional<std::int64_t> began_ns_;           // its first time by that clock
  bool enters_after_first_ = false;                // the first frame tells where the start is
  bool entering_ = false;                          // after a seek, until the first frame at the start was exact
  std::size_t tries_back_ = 0;                     // places where seek_to_start() has looked
  std::int64_t rejected_packet_ = AV_NOPTS_VALUE;  // where the last one was
  std::int64_t corrupt_before_ = 0;                // packets, before the seek
  std::optional<std::int64_t> base_ns_;            // the stream's first time: its first frame's
  std::int64_t start_ns_ = 0;                      // valid with base_ns_
  std::int64_t end_ns_ = 0;
  std::int64_t loop_offset_ns_ = 0;
  std::int64_t loops_left_ = 0;
  bool first_of_play_ = true;
  bool past_end_ = false;
  std::int64_t play_frames_ = 0;
  AvFramePtr held_;  // the last one before the start; with first_is_held_, the first one at it
  FrameTime held_time_;
  const bool joins_all_;          // a deinterlacer looks at the neighbours of each frame, flagged or not
  bool first_is_held_ = false;    // its neighbour was given
  bool last_needs_next_ = false;  // the last one given is made with the frame after it
  std::int64_t decoded_ = 0;
  std::optional<FrameTime> last_;
};

}  // namespace saccade
