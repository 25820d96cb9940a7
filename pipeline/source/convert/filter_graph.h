// One libavfilter chain between a source and a sink.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/error.h"
#include "pipeline/source/ffmpeg/av.h"

struct AVFilterContext;
struct AVFilterGraph;

namespace saccade {

struct FilterGraphDeleter {
  void operator()(AVFilterGraph* graph) const noexcept;
};
using FilterGraphPtr = std::unique_ptr<AVFilterGraph, FilterGraphDeleter>;

// A chain that can't be built. what(): "filters 'CHAIN': reason".
class FilterError : public UsageError {
 public:
  FilterError(const std::string& chain, std::string reason);
  const std::string& reason() const { return reason_; }  // FFmpeg's words

 private:
  std::string reason_;
};

// Configured for frames of one size and format. One thread.
class FilterGraph {
 public:
  // `like`: a frame of the kind that will be pushed. Time stamps go in as nanoseconds. Throws FilterError
  // when the chain can't be built, and UnavailableError where libavfilter is missing, as all here do.
  FilterGraph(const std::string& filters, const AVFrame& like, AVRational frame_rate, int threads);

  int push(AVFrame* frame);          // takes the frame's content. FFmpeg's error code
  void finish(std::int64_t end_ns);  // no more frames: the last one ends there
  int pull(AVFrame* frame);          // AVERROR(EAGAIN): push more; AVERROR_EOF: all was pulled
  AVRational time_base() const;

 private:
  FilterGraphPtr graph_;
  AVFilterContext* source_ = nullptr;  // of graph_
  AVFilterContext* sink_ = nullptr;
};

// Of the option "vf". Throws UsageError where a filter or one of its options does not exist, or the chain is no chain.
void check_filters(const std::string& filters);
bool have_filter(const char* name);
unsigned filter_library_version();                                  // as avfilter_version
std::vector<std::string> filter_names(const std::string& filters);  // of a chain; none where it can't be parsed

}  // namespace saccade
