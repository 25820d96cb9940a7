// Packets in, decoded frames out: the loop around libavcodec, with its counters.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "pipeline/source/decode/lag.h"
#include "pipeline/source/demux/input.h"

namespace saccade {

// Owns one opened input and reads it from front to back, or from a seek on. One thread.
class StreamDecoder {
 public:
  StreamDecoder(const SourceConfig& config, const std::atomic<bool>& interrupted, SourceCounters& counters);

  // The next decoded frame, in presentation order; damaged packets are counted and skipped. kEnd after the last one.
  // kAgain: a device has none yet; a moment was waited. Of a live stream, arrived_ns() tells the frame's arrival.
  ReadStatus decode(AVFrame& frame);

  // To the key frame at or before `ts` (in the stream's time base) and a clean decoder. False: the input can't.
  bool seek(std::int64_t ts);

  // Why nothing could be decoded: FFmpeg's words. Empty when it said nothing.
  std::string first_fault() const;
  const std::string& note() const { return input_.note; }
  bool encrypted() const { return encrypted_; }
  bool live() const { return input_.live; }
  StreamEnd end() const { return end_; }  // after kEnd
  AVFormatContext& format() const { return *input_.format; }
  AVStream& stream() const { return *input_.stream; }
  AVCodecContext& codec() const { return *input_.codec; }

 private:
  ReadStatus feed();
  void finish(int read_error);
  void note_error(int code);
  void count_gap(const AVPacket& packet);
  void count_silent_damage();
  int read_packet();
  bool joining() const { return input_.live && !had_frame_; }  // a stream that runs: its first packets may refer back
  void note_arrival(const AVPacket& packet);
  bool is_late(const AVPacket& packet);
  void mark_arrival(AVFrame& frame) const;

  const std::atomic<bool>& interrupted_;
  SourceCounters& counters_;
  OpenedInput input_;
  PacketPtr packet_;
  bool draining_ = false;
  bool had_last_ = false;  // OpenedInput::last_pts was read
  bool sought_ = false;
  bool encrypted_ = false;
  bool begins_with_key_ = false;
  int gap_countdown_ = 0;  // packets until a gap counts, unless a key frame comes before
  bool waiting_ = false;   // the last read gave nothing: its deadline stands
  bool stalled_ = false;   // the last read ended by its deadline
  bool had_frame_ = false;
  StreamEnd end_;
  const bool drop_late_;
  LagGate gate_;
  struct Arrival {
    std::int64_t ts = AV_NOPTS_VALUE;  // of the packet, as its frame will carry it
    std::int64_t at_ns = 0;
  };
  std::array<Arrival, 64> arrivals_;  // the latest packets; more than a decoder holds back
  std::size_t arrival_count_ = 0;
  int first_error_ = 0;
  int errors_in_a_row_ = 0;
  std::int64_t packets_ = 0;
  std::int64_t packets_end_byte_ = 0;  // where the last one lay in the file
};

// When the last packet of a decoded live frame arrived, by the steady clock; 0: not known. Filters keep it.
std::int64_t arrived_ns(const AVFrame& frame);

}  // namespace saccade
