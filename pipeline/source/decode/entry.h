// Whether decoding that began midway gives the pictures of a whole run.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "pipeline/source/ffmpeg/av.h"

namespace saccade {

// Note [Exact entry]
// A seek lands on what the container calls a key frame, which is right in most files and wrong in some: sample flags of
// 0 in a fragmented MP4 and an idx1 whose entries are all flagged make every packet one. So the container only says
// where to try. The decoder says what was found there, out of the codec's own bytes. Pictures after an entry are those
// of a run from the beginning
// - with codecs whose packets need no other, from the first one on;
// - from a picture on that the decoder calls a key frame and that is all intra: before it in time, an open GOP's
// leading
//   pictures lack what they refer to;
// - in H.264 and HEVC from any intra picture on, as long as the decoder misses nothing, which it would complain of;
// - with intra refresh in H.264, after a whole refresh that began with pictures to refer to. The first one may have
//   none: its slices fail, though the decoder calls the pictures after it recovered. So: from the next recovery point
//   on, once as much time has passed as the decoder took for its first picture.
// With every other codec FFmpeg's decoder flags key frames wrongly or not at all (Cinepak, MS Video 1, QuickTime RLE,
// GIF): those are decoded from the beginning.
enum class EntryRule : std::uint8_t {
  kNone,            // from the beginning alone
  kAnywhere,        // each packet is a picture by itself
  kFlaggedPackets,  // FFmpeg's decoder itself takes a packet without the flag for a difference to the picture before
  kKeyFrames        // as the decoder flags them
};
EntryRule entry_rule(const AVCodecParameters& codec);

// Whether FFmpeg's decoder keeps something of the pictures before over a flush, so that it takes a new one to enter.
bool remembers_over_flush(AVCodecID codec);

// Whether each packet of the codec is a picture that needs no other.
bool stands_alone(AVCodecID codec);

class EntryCheck {
 public:
  // After a seek, with what the decoder complained of so far. `codec`: of the stream, borrowed.
  void begin(const AVCodecParameters& codec, std::int64_t complaints);
  void stop() { watching_ = false; }
  bool watching() const { return watching_; }
  void note_packet(const AVPacket& packet);
  void note_frame(const AVFrame& frame, std::int64_t complaints);

  bool exact() const { return exact_; }                  // the last frame, and all later ones
  bool exact_before() const { return exact_before_; }    // the one before it, too: none is missing between the two
  bool first_was_exact() const { return first_exact_; }  // and was the first packet's
  // The last frame's stamp lies before the first packet's: it is another frame's.
  bool stamp_is_wrong() const { return stamp_is_wrong_; }
  int frames() const { return frames_; }                       // since begin()
  std::int64_t first_packet() const { return first_packet_; }  // its decode time or place: where the seek led to
  std::int64_t first_byte() const { return first_byte_; }      // of the first packet whose place is known; or -1

 private:
  struct ParserDeleter {
    void operator()(AVCodecParserContext* p) const noexcept { av_parser_close(p); }
  };
  bool is_recovery_point(const AVPacket& packet);
  std::int64_t next_recovery_after(std::int64_t ts) const;
  bool watching_ = false;
  EntryRule rule_ = EntryRule::kNone;
  bool complains_ = false;  // the decoder complains of each reference that is missing
  std::unique_ptr<AVCodecParserContext, ParserDeleter> parser_;  // of H.264 alone
  CodecContextPtr parsed_;                                       // for parser_
  bool exact_ = false;
  bool began_intra_ = false;
  std::int64_t complaints_ = 0;
  bool exact_before_ = false;
  bool first_exact_ = false;
  int frames_ = 0;
  std::int64_t first_packet_ = AV_NOPTS_VALUE;
  std::int64_t first_byte_ = -1;
  std::int64_t first_packet_pts_ = AV_NOPTS_VALUE;
  bool first_packet_flagged_ = false;
  std::int64_t first_dts_ = AV_NOPTS_VALUE;
  bool stamp_is_wrong_ = false;
  std::int64_t first_frame_ts_ = AV_NOPTS_VALUE;
  std::vector<std::int64_t> recovery_pts_;  // of H.264's recovery points since begin()
};

}  // namespace saccade
