// Brings decoded frames to a canonical layout: straight through where they have one, else by one filter graph.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/log.h"
#include "pipeline/source/convert/device_rotation.h"
#include "pipeline/source/convert/filter_graph.h"
#include "pipeline/source/convert/plan.h"
#include "pipeline/source/frame/frame.h"

namespace saccade {

// Rebuilds its graph whenever a frame's traits change. One thread.
class Converter {
 public:
  // keep_first_format: every later frame is given the first one's size and layout.
  Converter(bool keep_first_format, Log log);

  // Converts in place: `frame` (after resolve_tags) holds the canonical picture afterwards, and format() says how to
  // read it. `stream`: the frame's, which a replay reopens. Returns true when the traits or the shape of the pixels
  // differ from those of the frame before. Throws Error.
  bool convert(AVFrame& frame, const AVStream& stream);

  // Of the frames from now on.
  void set_chroma_offset(ChromaOffset offset) { chroma_offset_ = offset; }

  const PictureFormat& format() const { return format_; }  // of the frame last converted
  const std::string& filters() const { return plan_.filters; }
  const std::vector<std::string>& notes() const { return notes_; }  // about the frame last converted
  Orientation orientation() const { return traits_.orientation; }

 private:
  FrameTraits traits_of(const AVFrame& frame, const AVStream& stream);
  void rebuild(AVFrame& frame, bool try_zscale);
  void run_graph(AVFrame& frame);
  bool only_rotates() const {
    return !traits_.orientation.identity() && plan_.filters == traits_.orientation.filters();
  }
  void attach_neutral_chroma(AVFrame& frame) const;
  float displayed_sar(AVRational sar) const;
  bool note_shape(float sar);

  const bool keep_first_format_;
  const Log log_;
  FrameTraits traits_;
  bool has_traits_ = false;
  ChromaOffset chroma_offset_;
  bool has_own_matrix_ = false;  // a frame brought a display matrix; it holds until another brings one
  std::optional<OutputFormat> first_;
  ConversionPlan plan_;
  std::unique_ptr<FilterGraph> graph_;
  bool graph_proven_ = false;
  bool rotates_on_device_ = false;  // in place of a graph that would do nothing else
  DeviceRotator rotator_;
  BufferPtr neutral_chroma_;
  PictureFormat format_;
  std::vector<std::string> notes_;
  std::string orientation_note_;
  bool has_shape_ = false;  // format_.sar is that of a frame
  bool warned_of_shape_ = false;
};

}  // namespace saccade
