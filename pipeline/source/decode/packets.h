// The second stage: packets in, decoded frames out. The loop around libavcodec, with its counters.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "pipeline/source/decode/entry.h"
#include "pipeline/source/decode/layers.h"
#include "pipeline/source/decode/redo.h"
#include "pipeline/source/demux/demuxer.h"
#include "pipeline/source/ffmpeg/log.h"

namespace saccade {

// Owns the stage before it and the stream's decoder. Opens both; throws as Demuxer and open_codec(). The arguments are
// borrowed. One thread.
class PacketDecoder {
 public:
  PacketDecoder(const SourceConfig& config, const InputLocation& location, const FfmpegLog& log,
                const std::atomic<bool>& interrupted, SourceCounters& counters);

  // The next decoded frame, in presentation order; damaged packets are counted and skipped. kAgain: a device has none
  // yet, and a moment was waited. kFailed: interrupted.
  ReadStatus decode(AVFrame& frame);

  // Of a live stream: when the last packet of the frame that decode() gave arrived, by the steady clock.
  std::int64_t arrived_ns() const { return arrived_ns_; }

  // Whether the stream's first packet is a key frame that is shown at `pts`, so that the first frame is. Takes it: a
  // seek or a new opening has to follow.
  bool begins_at(std::int64_t pts);

  // To what the container calls a key frame, at or before `ts` (in the stream's time base), with a clean decoder.
  // False: the input can't, or the codec is decoded from the beginning alone.
  bool seek(std::int64_t ts);
  EntryCheck& entry() { return entry_; }  // of the last seek

  // Why nothing could be decoded: FFmpeg's words. Empty when it said nothing.
  int first_error() const { return first_error_; }  // of FFmpeg's; 0: none came
  bool encrypted() const { return encrypted_; }
  const StreamEnd& end() const { return end_; }  // after kEnd
  const Demuxer& demuxer() const { return demuxer_; }
  const VideoStream& video() const { return demuxer_.video(); }
  const AVCodec& codec() const { return *codec_->codec; }

 private:
  void open_decoder();
  bool open_next_link();
  ReadStatus feed();
  int read();
  void drain(int read_error);
  void note_error(int code);
  void count_silent_damage();
  void note_losses();
  // A stream that runs: its first packets may refer back.
  bool joining() const { return demuxer_.live() && !had_frame_; }
  void note_arrival(const AVPacket& packet);
  std::int64_t arrival_of(const AVFrame& frame) const;

  const SourceConfig& config_;
  const InputLocation& location_;
  const std::atomic<bool>& interrupted_;
  SourceCounters& counters_;
  const FfmpegLog& log_;
  const std::int64_t complaints_before_;
  Losses losses_;     // counted so far
  const bool waits_;  // packets come when a sender sends them, not when a disk is read
  Demuxer demuxer_;
  CodecContextPtr codec_;  // after demuxer_: it goes first
  PacketPtr packet_;
  SpatialLayers layers_;
  std::optional<CleanRedo> redo_;  // of codec_; never empty
  EntryCheck entry_;
  bool draining_ = false;
  bool encrypted_ = false;
  bool had_frame_ = false;
  StreamEnd end_;
  struct Arrival {
    std::int64_t ts = AV_NOPTS_VALUE;  // of the packet, as its frame will carry it
    std::int64_t at_ns = 0;
  };
  std::array<Arrival, 64> arrivals_;  // the latest packets; more than a decoder holds back
  std::size_t arrival_count_ = 0;
  std::int64_t arrived_ns_ = 0;
  int first_error_ = 0;
  int errors_in_a_row_ = 0;
};

}  // namespace saccade
