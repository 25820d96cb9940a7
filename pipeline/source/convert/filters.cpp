#include "pipeline/source/convert/filters.h"

#include <fmt/format.h>

#include <utility>

#include "pipeline/error.h"
#include "pipeline/source/ffmpeg/versions.h"

namespace saccade {
namespace {

constexpr AVRational kNanoseconds = {1, 1000000000};
constexpr std::int64_t kDefaultFrameNs = 40000000;
}  // namespace

void FrameFilters::refuse(const std::string& reason) const {
  throw UsageError(OfOption("vf", fmt::format("'{}'", config_.filters)), reason, Hint::kCheckFilters);
}

void FrameFilters::refuse(int code) const { refuse(av_error_text(code)); }

FrameFilters::Kind FrameFilters::kind_of(const AVFrame& frame) {
  return {frame.width, frame.height, frame.format, frame.colorspace, frame.color_range};
}

void FrameFilters::build(const AVFrame& like) {
  graph_.reset();
  try {
    graph_ = std::make_unique<FilterGraph>(config_.filters, like, frame_rate_, 0);
  } catch (const FilterError& error) {
    refuse(error.reason());
  }
  kind_ = kind_of(like);
}

bool FrameFilters::push(AVFrame& frame, const FrameTime& time, AVRational frame_rate) {
  frame.pts = time.pts_ns;
  set_frame_duration(frame, time.duration_ns);
  frame_rate_ = frame_rate;
  until_ns_ = time.pts_ns + time.duration_ns;
  finished_ = false;
  if (graph_ && kind_ == kind_of(frame)) {
    const int pushed = graph_->push(&frame);
    if (pushed == AVERROR_EOF) return false;
    if (pushed < 0) refuse(pushed);
    return true;
  }
  waiting_ = empty_frames_.take();
  av_frame_move_ref(waiting_.get(), &frame);
  if (graph_) graph_->finish(time.pts_ns);
  return true;
}

// Filters may set times as they like; given out, they rise.
void FrameFilters::time_frame(const AVFrame& frame, FrameTime& time) {
  const AVRational base = graph_->time_base();
  if (!clock_) {
    const bool known = frame_rate_.num > 0 && frame_rate_.den > 0;
    clock_.emplace(known ? av_rescale_q(1, av_inv_q(frame_rate_), kNanoseconds) : kDefaultFrameNs);
  }
  std::optional<std::int64_t> pts_ns;
  if (frame.pts != AV_NOPTS_VALUE) pts_ns = av_rescale_q(frame.pts, base, kNanoseconds);
  const std::int64_t duration = frame_duration(frame);
  time = clock_->next(pts_ns, duration > 0 ? av_rescale_q(duration, base, kNanoseconds) : 0);
}

ReadStatus FrameFilters::pull(AVFrame& frame, FrameTime& time) {
  for (;;) {
    if (graph_) {
      const int pulled = graph_->pull(&frame);
      if (pulled >= 0) {
        time_frame(frame, time);
        return ReadStatus::kOk;
      }
      if (pulled == AVERROR_EOF && !waiting_) return ReadStatus::kEnd;
      if (pulled != AVERROR_EOF && pulled != AVERROR(EAGAIN)) refuse(pulled);
    }
    if (!waiting_) return finished_ ? ReadStatus::kEnd : ReadStatus::kAgain;
    build(*waiting_);
    if (const int pushed = graph_->push(waiting_.get()); pushed < 0) refuse(pushed);
    empty_frames_.give(std::exchange(waiting_, nullptr));
    if (finished_) graph_->finish(until_ns_);
  }
}

void FrameFilters::finish() {
  finished_ = true;
  if (graph_ && !waiting_) graph_->finish(until_ns_);
}

void FrameFilters::reset() {
  graph_.reset();
  if (waiting_) empty_frames_.give(std::exchange(waiting_, nullptr));
  finished_ = false;
  clock_.reset();
}

}  // namespace saccade
