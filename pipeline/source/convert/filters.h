// The user's filters: what is done to frames before they are converted.
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

// SourceConfig::filters, which begin with the first frame wanted and end with the last. The graph is rebuilt, the old
// one drained, when size, format or colours change. One thread.
class FrameFilters {
 public:
  FrameFilters(const SourceConfig& config, EmptyFrames& empty_frames) : config_(config), empty_frames_(empty_frames) {}

  // Takes the frame's content. False: the filters want no more. Throws UsageError, with the filters.
  bool push(AVFrame& frame, const FrameTime& time, AVRational frame_rate);
  // kAgain: push more; kEnd: after finish(), all came out.
  ReadStatus pull(AVFrame& frame, FrameTime& time);
  void finish();  // no more frames
  void reset();   // forgets what is inside

 private:
  struct Kind {
    int width = 0, height = 0, format = -1, space = -1, range = -1;
    bool operator==(const Kind&) const = default;
  };
  static Kind kind_of(const AVFrame& frame);
  void build(const AVFrame& like);
  void time_frame(const AVFrame& frame, FrameTime& time);
  [[noreturn]] void refuse(const std::string& reason) const;
  [[noreturn]] void refuse(int code) const;

  const SourceConfig& config_;
  EmptyFrames& empty_frames_;
  std::unique_ptr<FilterGraph> graph_;
  AvFramePtr waiting_;  // a frame of a new kind, until the old filters are drained
  AVRational frame_rate_{0, 1};
  std::int64_t until_ns_ = 0;  // where the last frame pushed ends
  bool finished_ = false;
  std::optional<PtsClock> clock_;  // of what comes out
  Kind kind_;                      // of graph_'s frames
};

}  // namespace saccade
