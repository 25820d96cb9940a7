#include "pipeline/decoder_graph.h"

#include <fmt/format.h>

#include <new>

#include "pipeline/decoder_log.h"
#include "pipeline/errors.h"

extern "C" {
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <libavutil/mem.h>
}

namespace saccade {
namespace {

[[noreturn]] void refuse(const std::string& filters, const ErrorCapture& log, int code) {
  throw UsageError(fmt::format("filters '{}': {}", filters, log.first().empty() ? av_error_text(code) : log.first()));
}

FilterInOutPtr make_end(const char* name, AVFilterContext* filter) {
  FilterInOutPtr end(avfilter_inout_alloc());
  if (!end) throw std::bad_alloc();
  end->name = av_strdup(name);
  end->filter_ctx = filter;
  end->pad_idx = 0;
  end->next = nullptr;
  return end;
}

}  // namespace

bool have_filter(const char* name) { return avfilter_get_by_name(name) != nullptr; }

std::vector<std::string> filter_names(const std::string& filters) {
  std::vector<std::string> names;
  const FilterGraphPtr graph(avfilter_graph_alloc());
  if (!graph) throw std::bad_alloc();
  const ErrorCapture quiet;
  AVFilterInOut* inputs = nullptr;
  AVFilterInOut* outputs = nullptr;
  const int code = avfilter_graph_parse2(graph.get(), filters.c_str(), &inputs, &outputs);
  const FilterInOutPtr left_inputs(inputs);
  const FilterInOutPtr left_outputs(outputs);
  if (code < 0) return names;
  for (unsigned i = 0; i < graph->nb_filters; ++i) names.emplace_back(graph->filters[i]->filter->name);
  return names;
}

FilterGraph::FilterGraph(const std::string& filters, const AVFrame& like, AVRational frame_rate, int threads)
    : graph_(avfilter_graph_alloc()) {
  if (!graph_) throw std::bad_alloc();
  graph_->nb_threads = threads;
  const ErrorCapture log;
  const AVRational sar = like.sample_aspect_ratio;
  std::string arguments = fmt::format("video_size={}x{}:pix_fmt={}:time_base=1/1000000000:pixel_aspect={}/{}",
                                      like.width, like.height, like.format, sar.num, sar.den > 0 ? sar.den : 1);
  if (frame_rate.num > 0 && frame_rate.den > 0) {
    arguments += fmt::format(":frame_rate={}/{}", frame_rate.num, frame_rate.den);
  }
  int code = avfilter_graph_create_filter(&source_, avfilter_get_by_name("buffer"), "in", arguments.c_str(), nullptr,
                                          graph_.get());
  if (code >= 0) {
    code =
        avfilter_graph_create_filter(&sink_, avfilter_get_by_name("buffersink"), "out", nullptr, nullptr, graph_.get());
  }
  if (code < 0) refuse(filters, log, code);
  AVFilterInOut* outputs = make_end("in", source_).release();  // what the chain reads from, and writes to
  AVFilterInOut* inputs = make_end("out", sink_).release();
  code = avfilter_graph_parse_ptr(graph_.get(), filters.c_str(), &inputs, &outputs, nullptr);
  const FilterInOutPtr left_inputs(inputs);
  const FilterInOutPtr left_outputs(outputs);
  if (code >= 0) code = avfilter_graph_config(graph_.get(), nullptr);
  if (code < 0) refuse(filters, log, code);
}

int FilterGraph::push(AVFrame* frame) { return av_buffersrc_add_frame_flags(source_, frame, 0); }
void FilterGraph::finish(std::int64_t end_ns) { av_buffersrc_close(source_, end_ns, 0); }
int FilterGraph::pull(AVFrame* frame) { return av_buffersink_get_frame(sink_, frame); }
AVRational FilterGraph::time_base() const { return av_buffersink_get_time_base(sink_); }

}  // namespace saccade
