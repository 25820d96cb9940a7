// The first stage: the packets of one stream, in the order in which they lie in the input.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <string>

#include "pipeline/source/demux/input.h"
#include "pipeline/source/demux/truncation.h"
#include "pipeline/source/frame/frame_source.h"
#include "pipeline/source/live/lag.h"

namespace saccade {

// One input, opened in the constructor (throws as open_input()), read from front to back or from a seek on. The
// arguments are borrowed. One thread.
class Demuxer {
 public:
  Demuxer(const SourceConfig& config, const InputLocation& location, const FfmpegLog& log,
          const std::atomic<bool>& interrupted, SourceCounters& counters);

  // As av_read_frame(), but gives packets of our stream alone and ends a stall by its time-out. Of a live stream, late
  // packets are left out. AVERROR(EAGAIN): a device has none yet, and a moment was waited.
  int read(AVPacket& packet);
  std::int64_t arrived_ns() const { return arrived_ns_; }  // when the packet that read() gave was read
  bool at_end_of_file() const { return avio_feof(input_.format->pb) != 0; }

  // After a read() that gave AVERROR_EOF: whether the input goes on with a link of its own. Note [Ogg chains]
  bool has_next_link() const { return next_link_byte_ > 0; }
  // Opens it; video() is another. False: it can't be read, which counts as damage.
  bool open_next_link();
  bool fragments_fall() const { return input_.movies.stamps_fall; }
  bool in_first_link() const { return first_byte_ == 0; }

  // After the last read(), which gave `code`: how the stream ended. Counts what shows that it was cut short.
  StreamEnd finish(int code);

  // To the key frame at or before `ts`, in the stream's time base. False: the input can't.
  bool seek(std::int64_t ts);

  const VideoStream& video() const { return input_.video; }
  const std::string& note() const { return input_.note; }
  bool live() const { return input_.live; }
  bool sender_waits() const { return input_.sender_waits; }
  bool timeless() const { return input_.timeless; }
  bool began_with_key() const { return begins_with_key_ && !sought_; }  // was read from its beginning, a key frame

 private:
  struct Waiting {
    PacketPtr packet;
    std::int64_t arrived_ns = 0;
  };
  int read_any(AVPacket& packet);
  int read_ours(AVPacket& packet);
  int read_fresh(AVPacket& packet);
  int read_ahead();
  void leave_out(std::size_t packets);
  bool is_left_over(const AVPacket& packet);
  int end_of(int code, std::int64_t from);
  bool is_plain_end(int code, std::int64_t from) const;
  bool may_be_file(int code) const;
  bool is_lost(int code, bool too_few, bool lacks_end) const;
  std::string why_broken(int code) const;
  int error_of_break(int code) const;
  void count_gap(const AVPacket& packet);
  int read_next(AVPacket& packet);
  int read_link(AVPacket& packet);
  bool is_ogg() const;
  bool find_next_link();

  const SourceConfig& config_;
  const InputLocation& location_;
  const FfmpegLog& log_;
  const std::atomic<bool>& interrupted_;
  SourceCounters& counters_;
  LinkNotes& link_;
  const InputKind kind_;
  OpenedInput input_;
  const bool drop_late_;
  bool any_data_ = false;
  LagGate gate_;
  AnswerWithoutLength answer_;
  std::deque<Waiting> waiting_;        // as gate_ has them
  int read_ahead_code_ = 0;            // of a read that failed while packets waited
  std::int64_t waiting_since_ns_ = 0;  // a device's read found nothing since; 0: the last one did
  std::int64_t waited_ns_ = 0;         // how long the last read slept; of a live stream
  std::int64_t arrived_ns_ = 0;
  bool had_last_ = false;  // OpenedInput::last_pts was read
  bool sought_ = false;
  bool begins_with_key_ = false;
  bool waiting_for_device_ = false;  // the last read gave nothing: its deadline stands
  bool stalled_ = false;             // the last read ended by its deadline
  bool lost_place_ = false;          // the last read ended as ReadWatch::lost_place() says
  int gap_countdown_ = 0;            // packets until a gap counts, unless a key frame comes before
  bool gave_up_packet_ = false;      // Note [Ends inside a packet]: so it is, if the next read is the end
  bool last_is_part_ = false;        // FFmpeg flagged the last packet: its rest, or what lies before it, is missing
  std::int64_t packets_ = 0;
  std::int64_t first_byte_ = 0;       // of the file that input_ reads: where its link begins
  std::int64_t next_link_byte_ = 0;   // where the next one does; 0: not known
  std::int64_t last_begin_byte_ = 0;  // where the last one lay in the file
  std::int64_t last_end_byte_ = 0;
};

}  // namespace saccade
