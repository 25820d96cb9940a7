// Frames that hold two fields become one frame each.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "pipeline/source/convert/filter_graph.h"
#include "pipeline/source/frame/frame_pool.h"
#include "pipeline/source/frame/frame_source.h"
#include "pipeline/source/frame/pts_clock.h"

namespace saccade {

// Note [Deinterlacing]
// Frames that hold two fields become one frame each by bwdif, before the user's filters, keeping times and count.
// `auto` touches flagged frames only, from the first one that the decoder flags; it leaves the work to the user's
// filters where they have one for fields. Adam7's order of transmission in PNG, which FFmpeg flags too, is no field.
// A lone bwdif or yadif among the user's filters runs here, too, in place of ours.
// HEVC and VVC flag only pictures that are a single field each. There is nothing to take apart in those: each is a
// frame of half the height, and `weave` among the user's filters joins them.
//
// bwdif makes a frame from itself and its two neighbours. So that a part of a video gives the pictures of the whole,
// - the frames next to the part are passed in as well, marked (FrameTime::neighbour), and never come out;
// - a graph that starts midway gets the frame before, which was shown already;
// - what bwdif remembers beyond that is one bit: whether it has deinterlaced a frame, for the first one is made from
//   itself alone. Marked copies of the frame before, flagged, set that bit when a graph starts midway.
// Each play of a loop, and each size or format, is a video of its own.
enum class FieldWork : std::uint8_t { kNone, kFlagged, kAll, kLeftToUser, kLeftWoven, kSingleFields };

// Whether the user's filters are a deinterlacer that looks at no more than the frame before and the one after.
bool deinterlaces_alone(const SourceConfig& config);

// Frames in by push(), frames out by pull(), one each except for neighbours, or as many as the user's deinterlacer
// makes. One thread.
class Fields {
 public:
  Fields(const SourceConfig& config, EmptyFrames& empty_frames)
      : config_(config), empty_frames_(empty_frames), runs_users_(deinterlaces_alone(config)) {}

  // After pull() gave kAgain. `codec`: of the frame. Copies frames off the device that are deinterlaced.
  void push(AvFramePtr frame, const FrameTime& time, AVCodecID codec, AVRational frame_rate);
  void finish() { finished_ = true; }  // no more frames
  // kAgain: push more; kEnd: after finish(), all came out. Throws UsageError where bwdif can't be built.
  ReadStatus pull(AvFramePtr& frame, FrameTime& time);
  void reset();  // forgets what is inside

  bool runs_users_filters() const { return runs_users_; }
  FieldWork work() const { return work_; }
  std::string filters() const;  // FFmpeg's syntax; empty: nothing is done
  std::string note() const;     // a sentence for `info`; empty for progressive pictures

 private:
  struct Kind {
    int width = 0, height = 0, format = -1, space = -1, range = -1;
    bool operator==(const Kind&) const = default;
  };
  static Kind kind_of(const AVFrame& frame);
  void decide(const AVFrame& frame, AVCodecID codec);
  bool takes(const AVFrame& frame) const;
  bool pull_graph(AvFramePtr& frame, FrameTime& time);
  FrameTime time_of(const AVFrame& made);
  bool take_waiting(AvFramePtr& frame, FrameTime& time);
  void start_graph(const AVFrame& like);
  void push_graph(AVFrame& frame, const FrameTime& time);
  void keep_as_before(const AVFrame& frame);
  AvFramePtr reference(const AVFrame& frame);
  [[noreturn]] void refuse(const std::string& reason) const;

  const SourceConfig& config_;
  EmptyFrames& empty_frames_;
  const bool runs_users_;  // SourceConfig::filters are the graph
  FieldWork work_ = FieldWork::kNone;
  bool top_field_first_ = false;  // of the first interlaced frame
  bool may_begin_ = true;         // a later frame may be the first that is deinterlaced
  AvFramePtr waiting_;            // pushed, not yet looked at
  FrameTime waiting_time_;
  AvFramePtr before_;                   // the frame before, while no graph runs
  std::unique_ptr<FilterGraph> graph_;  // null: no frame is deinterlaced now
  Kind kind_;                           // of graph_'s frames
  std::deque<FrameTime> inside_;        // of graph_'s frames, in order
  AVRational frame_rate_{0, 1};
  bool draining_ = false;  // graph_ gets no more
  bool finished_ = false;
};

// Whether a chain has a filter that makes, takes apart or joins fields. False where it can't be parsed.
bool works_on_fields(const std::string& filters);

}  // namespace saccade
