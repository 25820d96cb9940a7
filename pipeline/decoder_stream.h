// Packets in, decoded frames out: the loop around libavcodec, with its counters.
#pragma once

#include <atomic>
#include <cstdint>

#include "pipeline/decoder_input.h"

namespace saccade {

// Owns one opened input and reads it from front to back, or from a seek on. One thread.
class StreamDecoder {
 public:
  StreamDecoder(const SourceConfig& config, const std::atomic<bool>& interrupted, SourceCounters& counters);

  // The next decoded frame, in presentation order; damaged packets are counted and skipped. kEnd after the last one.
  ReadStatus decode(AVFrame& frame);

  // To the key frame at or before `ts` (in the stream's time base) and a clean decoder. False: the input can't.
  bool seek(std::int64_t ts);

  // Why nothing could be decoded: FFmpeg's words. Empty when it said nothing.
  std::string first_fault() const;
  const std::string& note() const { return input_.note; }
  bool encrypted() const { return encrypted_; }
  AVFormatContext& format() const { return *input_.format; }
  AVStream& stream() const { return *input_.stream; }
  AVCodecContext& codec() const { return *input_.codec; }

 private:
  ReadStatus feed();
  void finish(int read_error);
  void count_gap(const AVPacket& packet);
  void count_silent_damage();

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
  int first_error_ = 0;
  int errors_in_a_row_ = 0;
  std::int64_t packets_ = 0;
  std::int64_t packets_end_byte_ = 0;  // where the last one lay in the file
};

}  // namespace saccade
