#include "pipeline/decoder.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <exception>
#include <limits>
#include <utility>

#include "pipeline/decoder_color.h"
#include "pipeline/decoder_convert.h"
#include "pipeline/decoder_hw.h"
#include "pipeline/decoder_info.h"
#include "pipeline/decoder_log.h"
#include "pipeline/decoder_play.h"
#include "pipeline/errors.h"
#include "pipeline/frame_pool.h"

namespace saccade {
namespace {

constexpr AVRational kNanoseconds = {1, 1000000000};

// Timed frames -> --vf -> canonical layout.
class Decoder final : public FrameSource {
 public:
  // why_on_cpu: why the card doesn't decode, where it was to.
  Decoder(const SourceConfig& config, const std::string& why_on_cpu);
  const StreamInfo& info() const override { return info_; }
  ReadStatus next(Frame& out) override;
  const SourceCounters& counters() const override { return counters_; }
  const std::string& error() const override { return error_; }
  void interrupt() override { interrupted_ = true; }
  bool seek(std::int64_t pts_ns) override;
  void recycle(Frame frame) override { shells_.give(frame.release()); }

 private:
  ReadStatus produce(Frame& out);
  ReadStatus next_decoded(AVFrame& frame, FrameTime& time);
  ReadStatus next_filtered(AVFrame& frame, FrameTime& time);
  void build_filters(const AVFrame& like);
  void open_first();

  const SourceConfig config_;
  std::atomic<bool> interrupted_{false};
  SourceCounters counters_;
  FrameShells shells_;
  Playback playback_;
  Converter converter_;
  std::unique_ptr<FilterGraph> filters_;  // of --vf
  AvFramePtr waiting_;                    // a frame of a new size or format, until the old filters are drained
  std::int64_t filtered_until_ns_ = 0;
  int filter_width_ = 0, filter_height_ = 0, filter_format_ = -1;
  StreamInfo info_;
  Frame first_;
  std::int64_t delivered_ = 0;
  bool failed_ = false;
  std::string error_;
};

Decoder::Decoder(const SourceConfig& config, const std::string& why_on_cpu)
    : config_(config), playback_(config_, interrupted_, counters_), converter_(config_.keep_first_format) {
  open_first();
  if (info_.hwdec_reason.empty()) info_.hwdec_reason = why_on_cpu;
}

void Decoder::open_first() {
  ReadStatus status = ReadStatus::kAgain;
  {
    const ErrorCapture log;
    while (status == ReadStatus::kAgain) status = produce(first_);
    if (status != ReadStatus::kOk) throw InputError(playback_.describe_no_frame(log.first()));
    if (config_.hwdec != HwDecode::kNo && info_.hwdec == "no") {
      info_.hwdec_reason = log.first().empty()
                               ? fmt::format("the card takes no {} of {}", info_.codec, info_.pixel_format)
                               : log.first();
    }
  }
  describe_converter(converter_, config_.filters, first_.view(), info_);
  for (const std::string& note : info_.notes) spdlog::debug("{}: {}", config_.uri, note);
}

ReadStatus Decoder::next(Frame& out) {
  if (failed_) return ReadStatus::kFailed;
  if (first_) {
    out = std::exchange(first_, Frame{});
    return ReadStatus::kOk;
  }
  try {
    const ReadStatus status = produce(out);
    if (status == ReadStatus::kFailed) return ReadStatus::kEnd;  // interrupted
    return status;
  } catch (const std::exception& e) {
    failed_ = true;
    error_ = fmt::format("{}: frame {}: {}", config_.uri, delivered_, e.what());
    return ReadStatus::kFailed;
  }
}

bool Decoder::seek(std::int64_t pts_ns) {
  if (!playback_.seek(pts_ns)) return false;
  first_ = Frame{};
  filters_.reset();
  if (waiting_) shells_.give(std::exchange(waiting_, nullptr));
  failed_ = false;
  error_.clear();
  return true;
}

ReadStatus Decoder::produce(Frame& out) {
  if (interrupted_) return ReadStatus::kFailed;
  if (config_.max_frames && delivered_ >= *config_.max_frames) return ReadStatus::kEnd;
  AvFramePtr shell = shells_.take();
  FrameTime time;
  const ReadStatus status = config_.filters.empty() ? next_decoded(*shell, time) : next_filtered(*shell, time);
  if (status != ReadStatus::kOk) {
    shells_.give(std::move(shell));
    return status;
  }
  if (shell->decode_error_flags != 0 || (shell->flags & AV_FRAME_FLAG_CORRUPT) != 0) ++counters_.frames_corrupt;
  FrameView view;
  if (converter_.convert(*shell, playback_.stream(), view)) ++counters_.format_changes;
  view.pts_ns = time.pts_ns;
  view.sequence = delivered_++;
  counters_.frames = delivered_;
  out = Frame(std::move(shell), view);
  return ReadStatus::kOk;
}

// A decoded, timed frame whose tags are decided.
ReadStatus Decoder::next_decoded(AVFrame& frame, FrameTime& time) {
  const ReadStatus status = playback_.next(frame, time);
  if (status != ReadStatus::kOk) return status;
  frame.sample_aspect_ratio = av_guess_sample_aspect_ratio(&playback_.format(), &playback_.stream(), &frame);
  const bool is_first = info_.pixel_format.empty();
  if (is_first) describe_input(playback_, frame, config_, info_);
  const ResolvedTags tags = resolve_tags(frame, playback_.gray_is_limited());
  if (is_first) describe_tags(frame, tags, info_);
  // Filters work on the host, and a crop at the left or the top is done there.
  const bool cropped = frame.crop_left != 0 || frame.crop_top != 0;
  if (!config_.keep_on_card || !config_.filters.empty() || cropped) copy_to_host(frame);
  return status;
}

// The next frame out of --vf's filters. They are made anew, the old ones drained, when size or format change.
ReadStatus Decoder::next_filtered(AVFrame& frame, FrameTime& time) {
  for (;;) {
    if (filters_) {
      const int pulled = filters_->pull(&frame);
      if (pulled >= 0) {
        time.pts_ns = av_rescale_q(frame.pts, filters_->time_base(), kNanoseconds);
        resolve_tags(frame, playback_.gray_is_limited());
        return ReadStatus::kOk;
      }
      if (pulled == AVERROR_EOF && !waiting_) return ReadStatus::kEnd;
      if (pulled != AVERROR_EOF && pulled != AVERROR(EAGAIN)) {
        throw UsageError(fmt::format("--vf '{}': {}", config_.filters, av_error_text(pulled)));
      }
    }
    if (waiting_) {
      build_filters(*waiting_);
      if (filters_->push(waiting_.get()) < 0)
        throw UsageError(fmt::format("--vf '{}' refused a frame", config_.filters));
      shells_.give(std::exchange(waiting_, nullptr));
      continue;
    }
    const ReadStatus status = next_decoded(frame, time);
    if (status == ReadStatus::kEnd && filters_) {
      filters_->finish(filtered_until_ns_);
      continue;
    }
    if (status != ReadStatus::kOk) return status;
    frame.pts = time.pts_ns;
    filtered_until_ns_ = time.pts_ns + time.duration_ns;
    frame.pkt_duration = time.duration_ns;
    if (filters_ && frame.width == filter_width_ && frame.height == filter_height_ && frame.format == filter_format_) {
      const int pushed = filters_->push(&frame);
      if (pushed == AVERROR_EOF) return ReadStatus::kEnd;
      if (pushed < 0) throw UsageError(fmt::format("--vf '{}': {}", config_.filters, av_error_text(pushed)));
      continue;
    }
    waiting_ = shells_.take();
    av_frame_move_ref(waiting_.get(), &frame);
    if (filters_) filters_->finish(time.pts_ns);
  }
}

void Decoder::build_filters(const AVFrame& like) {
  filters_.reset();
  try {
    filters_ = std::make_unique<FilterGraph>(config_.filters, like, playback_.frame_rate(), 0);
  } catch (const UsageError& e) {
    throw UsageError(fmt::format("--vf: {}; see 'ffmpeg -filters'", e.what()));
  }
  filter_width_ = like.width;
  filter_height_ = like.height;
  filter_format_ = like.format;
}

// Where the card won't, the input is opened anew for the CPU: with its threads, and with the decoder best for it.
std::unique_ptr<FrameSource> open_on_card(const SourceConfig& config) {
  const bool only_once = locate_input(config.uri).is_stdin;
  std::string why_not;
  try {
    auto decoder = std::make_unique<Decoder>(config, "");
    why_not = decoder->info().hwdec_reason;
    if (why_not.empty() || (only_once && !config.require_hwdec)) return decoder;
  } catch (const Error& e) {
    if (only_once && !config.require_hwdec) throw;
    why_not = e.what();
  }
  SourceConfig on_cpu = config;
  on_cpu.hwdec = HwDecode::kNo;
  if (!only_once) {
    auto decoder = std::make_unique<Decoder>(on_cpu, why_not);  // what is wrong with the input itself comes out here
    if (!config.require_hwdec) return decoder;
  }
  throw UnavailableError(
      fmt::format("{}: no hardware decoding: {}; leave out --require-hwdec to decode on the CPU", config.uri, why_not));
}

}  // namespace

std::unique_ptr<FrameSource> open_decoder(const SourceConfig& config) {
  route_ffmpeg_log();
  if (config.hwdec == HwDecode::kNo) return std::make_unique<Decoder>(config, "");
  return open_on_card(config);
}

}  // namespace saccade
