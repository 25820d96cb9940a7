#include "pipeline/source/convert/filters.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "pipeline/error.h"
#include "pipeline/source/ffmpeg/versions.h"

namespace saccade {
namespace {

constexpr AVRational kNanoseconds = {1, 1000000000};
constexpr std::int64_t kDefaultFrameNs = 40000000;
constexpr std::array<std::string_view, 25> kFieldFilters = {
    "bwdif",      "detelecine", "doubleweave",  "estdif",         "field",    "fieldhint",  "fieldmatch",
    "fieldorder", "il",         "interlace",    "kerndeint",      "mcdeint",  "nnedi",      "phase",
    "pp",         "pullup",     "repeatfields", "separatefields", "telecine", "tinterlace", "vfrdet",
    "w3fdif",     "weave",      "yadif",        "yadif_cuda"};

// PNG flags Adam7 pictures.
bool flag_means_fields(AVCodecID codec) { return codec != AV_CODEC_ID_PNG && codec != AV_CODEC_ID_APNG; }

bool flag_means_one_field(AVCodecID codec) { return codec == AV_CODEC_ID_HEVC || codec == AV_CODEC_ID_VVC; }

const char* deinterlacer(FieldWork work) {
  return work == FieldWork::kAll       ? "bwdif=mode=send_frame:deint=all"
         : work == FieldWork::kFlagged ? "bwdif=mode=send_frame:deint=interlaced"
                                       : "";
}

}  // namespace

bool works_on_fields(const std::string& filters) {
  const std::vector<std::string> names = filter_names(filters);
  return std::any_of(names.begin(), names.end(), [](const std::string& name) {
    return std::find(kFieldFilters.begin(), kFieldFilters.end(), name) != kFieldFilters.end();
  });
}

bool FrameFilters::wants(const AVFrame& frame, AVCodecID codec) {
  const bool interlaced = is_interlaced(frame) && flag_means_fields(codec);
  if (work_ == FieldWork::kNone && (interlaced || config_.deinterlace == Deinterlace::kYes)) {
    top_field_first_ = is_top_field_first(frame);
    work_ = interlaced && flag_means_one_field(codec)  ? FieldWork::kSingleFields
            : config_.deinterlace == Deinterlace::kYes ? FieldWork::kAll
            : config_.deinterlace == Deinterlace::kNo  ? FieldWork::kLeftWoven
            : works_on_fields(config_.filters)         ? FieldWork::kLeftToUser
                                                       : FieldWork::kFlagged;
  }
  return !description().empty();
}

std::string FrameFilters::description() const {
  std::string chain = deinterlacer(work_);
  if (!config_.filters.empty()) chain += (chain.empty() ? "" : ",") + config_.filters;
  return chain;
}

std::string FrameFilters::field_note() const {
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

// The filters that were asked for are to blame; ours, beside them, are known to work.
void FrameFilters::refuse(const std::string& reason) const {
  if (!config_.filters.empty()) {
    throw UsageError(OfOption("vf", fmt::format("'{}'", config_.filters)), reason, Hint::kCheckFilters);
  }
  const std::string fault = fmt::format("filters '{}': {}", description(), reason);
  if (config_.deinterlace == Deinterlace::kYes) throw UsageError(OfOption("deinterlace", "yes"), fault);
  throw UsageError(fault);
}

void FrameFilters::refuse(int code) const { refuse(av_error_text(code)); }

FrameFilters::Kind FrameFilters::kind_of(const AVFrame& frame) const {
  return {frame.width, frame.height, frame.format, work_, frame.colorspace, frame.color_range};
}

void FrameFilters::build(const AVFrame& like) {
  graph_.reset();
  try {
    graph_ = std::make_unique<FilterGraph>(description(), like, frame_rate_, 0);
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
