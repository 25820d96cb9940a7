#include "pipeline/source/convert/filter_graph.h"

#include <fmt/format.h>

#include <new>

#include "pipeline/error.h"
#include "pipeline/source/ffmpeg/late_library.h"
#include "pipeline/source/ffmpeg/log.h"
#include "pipeline/source/ffmpeg/versions.h"

extern "C" {
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <libavutil/mem.h>
}

namespace saccade {
namespace {

// The functions of libavfilter. See Note [Late libraries].
struct FilterLibrary {
  decltype(avfilter_version)* version;
  decltype(avfilter_get_by_name)* get_by_name;
  decltype(avfilter_inout_alloc)* inout_alloc;
  decltype(avfilter_inout_free)* inout_free;
  decltype(avfilter_graph_alloc)* graph_alloc;
  decltype(avfilter_graph_free)* graph_free;
  decltype(avfilter_graph_create_filter)* create_filter;
  decltype(avfilter_graph_parse_ptr)* parse_ptr;
  decltype(avfilter_graph_parse2)* parse2;
  decltype(avfilter_graph_config)* config;
  decltype(av_buffersrc_add_frame_flags)* add_frame;
  decltype(av_buffersrc_close)* close_source;
  decltype(av_buffersink_get_frame)* get_frame;
  decltype(av_buffersink_get_time_base)* get_time_base;

  FilterLibrary() {
    const LateLibrary library = ffmpeg_library("libavfilter", LIBAVFILTER_VERSION_MAJOR, "filters and conversions");
    library.bind(version, "avfilter_version");
    library.bind(get_by_name, "avfilter_get_by_name");
    library.bind(inout_alloc, "avfilter_inout_alloc");
    library.bind(inout_free, "avfilter_inout_free");
    library.bind(graph_alloc, "avfilter_graph_alloc");
    library.bind(graph_free, "avfilter_graph_free");
    library.bind(create_filter, "avfilter_graph_create_filter");
    library.bind(parse_ptr, "avfilter_graph_parse_ptr");
    library.bind(parse2, "avfilter_graph_parse2");
    library.bind(config, "avfilter_graph_config");
    library.bind(add_frame, "av_buffersrc_add_frame_flags");
    library.bind(close_source, "av_buffersrc_close");
    library.bind(get_frame, "av_buffersink_get_frame");
    library.bind(get_time_base, "av_buffersink_get_time_base");
  }
};

const FilterLibrary& avfilter() {
  static const FilterLibrary library;
  return library;
}

struct InOutDeleter {
  void operator()(AVFilterInOut* ends) const noexcept { avfilter().inout_free(&ends); }
};
using FilterInOutPtr = std::unique_ptr<AVFilterInOut, InOutDeleter>;

std::string words(const ErrorCapture& log, int code) { return log.first().empty() ? av_error_text(code) : log.first(); }

[[noreturn]] void refuse(const std::string& filters, const ErrorCapture& log, int code) {
  throw FilterError(filters, words(log, code));
}

FilterInOutPtr make_end(const char* name, AVFilterContext* filter) {
  FilterInOutPtr end(avfilter().inout_alloc());
  if (!end) throw std::bad_alloc();
  end->name = av_strdup(name);
  end->filter_ctx = filter;
  end->pad_idx = 0;
  end->next = nullptr;
  return end;
}

struct Ends {
  AVFilterContext* source = nullptr;
  AVFilterContext* sink = nullptr;
};

// The chain between a source of such frames and a sink. FFmpeg's error code.
int parse_between(AVFilterGraph& graph, const std::string& filters, const std::string& frames, Ends& ends) {
  const FilterLibrary& library = avfilter();
  int code = library.create_filter(&ends.source, library.get_by_name("buffer"), "in", frames.c_str(), nullptr, &graph);
  if (code >= 0) {
    code = library.create_filter(&ends.sink, library.get_by_name("buffersink"), "out", nullptr, nullptr, &graph);
  }
  if (code < 0) return code;
  AVFilterInOut* outputs = make_end("in", ends.source).release();  // what the chain reads from, and writes to
  AVFilterInOut* inputs = make_end("out", ends.sink).release();
  code = library.parse_ptr(&graph, filters.c_str(), &inputs, &outputs, nullptr);
  const FilterInOutPtr left_inputs(inputs);
  const FilterInOutPtr left_outputs(outputs);
  return code;
}

}  // namespace

FilterError::FilterError(const std::string& chain, std::string reason)
    : UsageError(fmt::format("filters '{}': {}", chain, reason)), reason_(std::move(reason)) {}

void FilterGraphDeleter::operator()(AVFilterGraph* graph) const noexcept { avfilter().graph_free(&graph); }

// Files and devices that a filter opens by itself may be there where it is used.
void check_filters(const std::string& filters) {
  const FilterGraphPtr graph(avfilter().graph_alloc());
  if (!graph) throw std::bad_alloc();
  const ErrorCapture log;
  Ends ends;
  const int code = parse_between(*graph, filters, "video_size=64x64:pix_fmt=yuv420p:time_base=1/1000000000", ends);
  if (code != AVERROR_FILTER_NOT_FOUND && code != AVERROR_OPTION_NOT_FOUND && code != AVERROR(EINVAL)) return;
  throw UsageError(OfOption("vf", fmt::format("'{}'", filters)), words(log, code), Hint::kCheckFilters);
}

bool have_filter(const char* name) { return avfilter().get_by_name(name) != nullptr; }

unsigned filter_library_version() { return avfilter().version(); }

std::vector<std::string> filter_names(const std::string& filters) {
  std::vector<std::string> names;
  const FilterGraphPtr graph(avfilter().graph_alloc());
  if (!graph) throw std::bad_alloc();
  const ErrorCapture quiet;
  AVFilterInOut* inputs = nullptr;
  AVFilterInOut* outputs = nullptr;
  const int code = avfilter().parse2(graph.get(), filters.c_str(), &inputs, &outputs);
  const FilterInOutPtr left_inputs(inputs);
  const FilterInOutPtr left_outputs(outputs);
  if (code < 0) return names;
  for (unsigned i = 0; i < graph->nb_filters; ++i) names.emplace_back(graph->filters[i]->filter->name);
  return names;
}

FilterGraph::FilterGraph(const std::string& filters, const AVFrame& like, AVRational frame_rate, int threads)
    : graph_(avfilter().graph_alloc()) {
  if (!graph_) throw std::bad_alloc();
  graph_->nb_threads = threads;
  const ErrorCapture log;
  const AVRational sar = like.sample_aspect_ratio;
  std::string arguments = fmt::format("video_size={}x{}:pix_fmt={}:time_base=1/1000000000:pixel_aspect={}/{}",
                                      like.width, like.height, like.format, sar.num, sar.den > 0 ? sar.den : 1);
  if (frame_rate.num > 0 && frame_rate.den > 0) {
    arguments += fmt::format(":frame_rate={}/{}", frame_rate.num, frame_rate.den);
  }
  arguments += buffer_source_color(like);
  Ends ends;
  int code = parse_between(*graph_, filters, arguments, ends);
  source_ = ends.source;
  sink_ = ends.sink;
  if (code >= 0) code = avfilter().config(graph_.get(), nullptr);
  if (code < 0) refuse(filters, log, code);
}

int FilterGraph::push(AVFrame* frame) { return avfilter().add_frame(source_, frame, 0); }
void FilterGraph::finish(std::int64_t end_ns) { avfilter().close_source(source_, end_ns, 0); }
int FilterGraph::pull(AVFrame* frame) { return avfilter().get_frame(sink_, frame); }
AVRational FilterGraph::time_base() const { return avfilter().get_time_base(sink_); }

}  // namespace saccade
