// Deinterlacing and the user's filters: what is done to decoded frames before they are converted.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "pipeline/source/convert/filter_graph.h"
#include "pipeline/source/frame/frame_pool.h"
#include "pipeline/source/frame/frame_source.h"
#include "pipeline/source/frame/pts_clock.h"

namespace saccade {

// Note [Deinterlacing]
// Frames that hold two fields become one frame each by bwdif, before the user's filters, keeping times and
// count. `auto` starts at the first frame that the decoder flags, and from then on touches flagged frames only; it
// leaves the work to the user's filters where they have one for fields. Adam7's order of transmission in PNG, which
// FFmpeg flags too, is no field.
// HEVC and VVC flag only pictures that are a single field each. There is nothing to take apart in those: each is a
// frame of half the height, and `weave` among the user's filters joins them.
enum class FieldWork : std::uint8_t { kNone, kFlagged, kAll, kLeftToUser, kLeftWoven, kSingleFields };

// Whether a chain has a filter that makes, takes apart or joins fields. False where it can't be parsed.
bool works_on_fields(const std::string& filters);

// Rebuilds its graph, the old one drained, when size, format, colours or the work on fields change. One thread.
class FrameFilters {
 public:
  FrameFilters(const SourceConfig& config, EmptyFrames& empty_frames) : config_(config), empty_frames_(empty_frames) {}

  // Whether frames, from this one of `codec` on, have to pass through here.
  bool wants(const AVFrame& frame, AVCodecID codec);
  // Takes the frame's content. False: the filters want no more. Throws UsageError, with the filters.
  bool push(AVFrame& frame, const FrameTime& time, AVRational frame_rate);
  // kAgain: push more; kEnd: after finish(), all came out.
  ReadStatus pull(AVFrame& frame, FrameTime& time);
  void finish();  // no more frames
  void reset();   // forgets what is inside

  FieldWork field_work() const { return work_; }
  std::string description() const;  // the whole chain, FFmpeg's syntax; empty: nothing is done
  std::string field_note() const;   // a sentence for `info`; empty for progressive pictures

 private:
  struct Kind {
    int width = 0, height = 0, format = -1;
    FieldWork work = FieldWork::kNone;
    int space = -1, range = -1;
    bool operator==(const Kind&) const = default;
  };
  Kind kind_of(const AVFrame& frame) const;
  void build(const AVFrame& like);
  void time_frame(const AVFrame& frame, FrameTime& time);
  [[noreturn]] void refuse(const std::string& reason) const;
  [[noreturn]] void refuse(int code) const;

  const SourceConfig& config_;
  EmptyFrames& empty_frames_;
  FieldWork work_ = FieldWork::kNone;
  bool top_field_first_ = false;  // of the first interlaced frame
  std::unique_ptr<FilterGraph> graph_;
  AvFramePtr waiting_;  // a frame of a new kind, until the old filters are drained
  AVRational frame_rate_{0, 1};
  std::int64_t until_ns_ = 0;  // where the last frame pushed ends
  bool finished_ = false;
  std::optional<PtsClock> clock_;  // of what comes out
  Kind kind_;                      // of graph_'s frames
};

}  // namespace saccade
