// The last stage: decoded frames become canonical pictures. Tags are decided, fields joined, the user's filters run,
// then the conversion and the rotation.
#pragma once

#include <string>
#include <vector>

#include "pipeline/source/convert/color_tags.h"
#include "pipeline/source/convert/converter.h"
#include "pipeline/source/convert/fields.h"
#include "pipeline/source/convert/filters.h"
#include "pipeline/source/convert/mend.h"
#include "pipeline/source/ffmpeg/av.h"
#include "pipeline/source/frame/frame_pool.h"
#include "pipeline/source/frame/frame_source.h"

namespace saccade {

// Frames in by push(), frames out by pull(): filters hold some back, and may give none or several for one. Copies of
// frames off the device are made only for what works on the host. One thread. Throws Error.
class PictureStage {
 public:
  // All is borrowed.
  PictureStage(const SourceConfig& config, EmptyFrames& empty_frames, SourceCounters& counters);

  // Takes a decoded frame of `video`, after pull() gave kAgain.
  void push(AvFramePtr frame, const FrameTime& time, const VideoStream& video);
  void finish() { fields_.finish(); }  // no more frames come
  // The next picture, with its view filled. kAgain: push more; kEnd: after finish() all came out, or the filters want
  // no more.
  ReadStatus pull(Frame& out, const VideoStream& video);
  // Forgets what is held back.
  void reset();

  // What was done to reach the first picture, which is `first`.
  void describe(const Frame& first, StreamInfo& info) const;

 private:
  void note_pages(int pages);
  void crop_by_tags(AVFrame& frame, const VideoStream& video);
  void note_assumed(const AVFrame& frame);
  ReadStatus pull_filtered(AvFramePtr& picture, FrameTime& time, const VideoStream& video);

  const SourceConfig& config_;
  EmptyFrames& empty_frames_;
  SourceCounters& counters_;
  PictureMender mender_;
  Fields fields_;
  FrameFilters filters_;
  const bool filtering_;  // frames pass through filters_
  Converter converter_;
  bool any_pushed_ = false;
  bool warned_of_pages_ = false;
  ResolvedTags first_tags_;
  std::string gamut_note_;            // about the first picture, behind the filters
  std::vector<std::string> assumed_;  // and done for the first frame, by its tags or for lack of them: a sentence each
};

}  // namespace saccade
