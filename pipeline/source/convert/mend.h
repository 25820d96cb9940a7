// Decoded samples that mean something else than their format says, brought to what the format says.
#pragma once

#include <memory>
#include <string>

#include "pipeline/source/convert/filter_graph.h"
#include "pipeline/source/ffmpeg/av.h"

namespace saccade {

// Before anything else sees a frame: alpha that is unused goes, plain CMYK becomes RGB, RGB that is tagged limited is
// expanded by the equations of H.273, a PNG gets the tags of its cICP. See Note [Picture facts]. Frames on a device are
// left alone. One thread.
class PictureMender {
 public:
  // In place, `frame` as it was decoded. Most frames pass after a look at their tags. Throws Error.
  void mend(AVFrame& frame, const VideoStream& video);
  const std::string& note() const { return note_; }  // about the last frame; empty: nothing was done

 private:
  void run(const std::string& filters, AVFrame& frame);
  std::unique_ptr<FilterGraph> graph_;
  std::string filters_;  // of graph_, and the kind of its frames
  int width_ = 0, height_ = 0, format_ = -1;
  std::string note_;
};

}  // namespace saccade
