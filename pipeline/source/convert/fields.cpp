#include "pipeline/source/convert/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include "pipeline/error.h"
#include "pipeline/source/ffmpeg/hardware.h"
#include "pipeline/source/ffmpeg/versions.h"

namespace saccade {
namespace {

constexpr std::array<std::string_view, 25> kFieldFilters = {
    "bwdif",      "detelecine", "doubleweave",  "estdif",         "field",    "fieldhint",  "fieldmatch",
    "fieldorder", "il",         "interlace",    "kerndeint",      "mcdeint",  "nnedi",      "phase",
    "pp",         "pullup",     "repeatfields", "separatefields", "telecine", "tinterlace", "vfrdet",
    "w3fdif",     "weave",      "yadif",        "yadif_cuda"};

// PNG flags Adam7 pictures.
bool flag_means_fields(AVCodecID codec) { return codec != AV_CODEC_ID_PNG && codec != AV_CODEC_ID_APNG; }

bool flag_means_one_field(AVCodecID codec) { return codec == AV_CODEC_ID_HEVC || codec == AV_CODEC_ID_VVC; }

}  // namespace

bool works_on_fields(const std::string& filters) {
  const std::vector<std::string> names = filter_names(filters);
  return std::any_of(names.begin(), names.end(), [](const std::string& name) {
    return std::find(kFieldFilters.begin(), kFieldFilters.end(), name) != kFieldFilters.end();
  });
}

bool deinterlaces_alone(const SourceConfig& config) {
  if (config.filters.empty() || config.deinterlace == Deinterlace::kYes) return false;
  const std::vector<std::string> names = filter_names(config.filters);
  return names.size() == 1 && (names.front() == "bwdif" || names.front() == "yadif");
}

void Fields::decide(const AVFrame& frame, AVCodecID codec) {
  if (work_ != FieldWork::kNone) return;
  const bool interlaced = is_interlaced(frame) && flag_means_fields(codec);
  may_begin_ = config_.deinterlace == Deinterlace::kAuto && flag_means_fields(codec) && !flag_means_one_field(codec);
  if (!interlaced && config_.deinterlace != Deinterlace::kYes) return;
  top_field_first_ = is_top_field_first(frame);
  work_ = interlaced && flag_means_one_field(codec)                      ? FieldWork::kSingleFields
          : config_.deinterlace == Deinterlace::kYes                     ? FieldWork::kAll
          : config_.deinterlace == Deinterlace::kNo                      ? FieldWork::kLeftWoven
          : !config_.filters.empty() && works_on_fields(config_.filters) ? FieldWork::kLeftToUser
                                                                         : FieldWork::kFlagged;
  may_begin_ = work_ == FieldWork::kFlagged;
}

std::string Fields::filters() const {
  if (runs_users_) return config_.filters;
  return work_ == FieldWork::kAll       ? "bwdif=mode=send_frame:deint=all"
         : work_ == FieldWork::kFlagged ? "bwdif=mode=send_frame:deint=interlaced"
                                        : "";
}

std::string Fields::note() const {
  const char* order = top_field_first_ ? "top" : "bottom";
  switch (work_) {
    case FieldWork::kNone:
      return "";
    case FieldWork::kAll:
      return "every frame is deinterlaced by bwdif, as was asked";
    case FieldWork::kFlagged:
      return fmt::format("interlaced, {} field first: deinterlaced by bwdif, one frame for each", order);
    case FieldWork::kLeftToUser:
      return fmt::format("interlaced, {} field first: left to the filters given, which work on fields", order);
    case FieldWork::kLeftWoven:
      return fmt::format("interlaced, {} field first: left woven together, as was asked", order);
    case FieldWork::kSingleFields:
      return fmt::format(
          "each picture is one field, {} field first: given as decoded, at half the frame's height (the filter 'weave' "
          "joins them)",
          order);
  }
  return "";
}

void Fields::refuse(const std::string& reason) const {
  if (runs_users_) throw UsageError(OfOption("vf", fmt::format("'{}'", filters())), reason, Hint::kCheckFilters);
  const std::string fault = fmt::format("filters '{}': {}", filters(), reason);
  if (config_.deinterlace == Deinterlace::kYes) throw UsageError(OfOption("deinterlace", "yes"), fault);
  throw UsageError(fault);
}

Fields::Kind Fields::kind_of(const AVFrame& frame) {
  return {frame.width, frame.height, frame.format, frame.colorspace, frame.color_range};
}

void Fields::push(AvFramePtr frame, const FrameTime& time, AVCodecID codec, AVRational frame_rate) {
  decide(*frame, codec);
  waiting_ = std::move(frame);
  waiting_time_ = time;
  frame_rate_ = frame_rate;
  finished_ = false;
}

ReadStatus Fields::pull(AvFramePtr& frame, FrameTime& time) {
  for (;;) {
    if (graph_ && pull_graph(frame, time)) return ReadStatus::kOk;
    if (waiting_ && take_waiting(frame, time)) return ReadStatus::kOk;
    if (waiting_) continue;
    if (!finished_) return ReadStatus::kAgain;
    if (!graph_) return ReadStatus::kEnd;
    draining_ = true;
  }
}

// The next frame that is wanted. False: the graph holds none that is ready, or has ended and is gone.
bool Fields::pull_graph(AvFramePtr& frame, FrameTime& time) {
  if (std::exchange(draining_, false)) graph_->finish(AV_NOPTS_VALUE);
  for (;;) {
    AvFramePtr made = empty_frames_.take();
    const int pulled = graph_->pull(made.get());
    if (pulled < 0) {
      empty_frames_.give(std::move(made));
      if (pulled != AVERROR(EAGAIN) && pulled != AVERROR_EOF) refuse(av_error_text(pulled));
      if (pulled == AVERROR_EOF) graph_.reset();
      return false;
    }
    time = time_of(*made);
    if (!time.neighbour) {
      frame = std::move(made);
      return true;
    }
    empty_frames_.give(std::move(made));
  }
}

// The time of the frame that it was made from, or one between that and the next: of a second field.
FrameTime Fields::time_of(const AVFrame& made) {
  const std::int64_t pts_ns = av_rescale_q(made.pts, graph_->time_base(), {1, 1000000000});
  while (inside_.size() > 1 && inside_[1].pts_ns <= pts_ns) inside_.pop_front();
  FrameTime time = inside_.front();
  time.pts_ns = pts_ns;
  return time;
}

// Whether the graph makes this frame.
bool Fields::takes(const AVFrame& frame) const {
  return runs_users_ || work_ == FieldWork::kAll || (work_ == FieldWork::kFlagged && (graph_ || is_interlaced(frame)));
}

// Into the graph, or straight out, which is true. An old graph is drained first: then the frame goes on waiting.
bool Fields::take_waiting(AvFramePtr& frame, FrameTime& time) {
  if (takes(*waiting_)) copy_to_host(*waiting_);
  if (graph_ && (waiting_time_.begins || kind_ != kind_of(*waiting_))) {
    draining_ = true;
    return false;
  }
  if (waiting_time_.begins) before_.reset();
  if (takes(*waiting_)) {
    if (!graph_) start_graph(*waiting_);
    push_graph(*waiting_, waiting_time_);
    empty_frames_.give(std::exchange(waiting_, nullptr));
    return false;
  }
  keep_as_before(*waiting_);
  if (waiting_time_.neighbour) {
    empty_frames_.give(std::exchange(waiting_, nullptr));
    return false;
  }
  frame = std::exchange(waiting_, nullptr);
  time = waiting_time_;
  return true;
}

// See Note [Deinterlacing].
void Fields::start_graph(const AVFrame& like) {
  try {
    graph_ = std::make_unique<FilterGraph>(filters(), like, frame_rate_, 0);
  } catch (const FilterError& error) {
    refuse(error.reason());
  }
  kind_ = kind_of(like);
  inside_.clear();
  if (!before_) return;
  copy_to_host(*before_);
  for (int left = kind_of(*before_) == kind_ ? 3 : 0; left > 0; --left) {
    const AvFramePtr copy = reference(*before_);
    if (left > 1) flag_interlaced(*copy);
    FrameTime time;
    time.pts_ns = waiting_time_.pts_ns - left;
    time.neighbour = true;
    push_graph(*copy, time);
  }
  before_.reset();
}

void Fields::push_graph(AVFrame& frame, const FrameTime& time) {
  frame.pts = time.pts_ns;
  set_frame_duration(frame, time.duration_ns);
  inside_.push_back(time);
  if (const int pushed = graph_->push(&frame); pushed < 0) refuse(av_error_text(pushed));
}

void Fields::keep_as_before(const AVFrame& frame) {
  if (before_) empty_frames_.give(std::exchange(before_, nullptr));
  if (may_begin_) before_ = reference(frame);
}

AvFramePtr Fields::reference(const AVFrame& frame) {
  AvFramePtr copy = empty_frames_.take();
  if (av_frame_ref(copy.get(), &frame) < 0) throw std::bad_alloc();
  return copy;
}

void Fields::reset() {
  graph_.reset();
  inside_.clear();
  if (waiting_) empty_frames_.give(std::exchange(waiting_, nullptr));
  if (before_) empty_frames_.give(std::exchange(before_, nullptr));
  draining_ = finished_ = false;
}

}  // namespace saccade
