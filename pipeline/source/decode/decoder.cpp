#include "pipeline/source/decode/decoder.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <exception>
#include <limits>
#include <utility>

#include "gpu/device_error.h"
#include "pipeline/error.h"
#include "pipeline/source/convert/color_tags.h"
#include "pipeline/source/convert/converter.h"
#include "pipeline/source/convert/filters.h"
#include "pipeline/source/decode/capture_time.h"
#include "pipeline/source/decode/describe.h"
#include "pipeline/source/decode/playback.h"
#include "pipeline/source/ffmpeg/hardware.h"
#include "pipeline/source/ffmpeg/log.h"
#include "pipeline/source/frame/frame_pool.h"

extern "C" {
#include <libavutil/pixdesc.h>
}

namespace saccade {
namespace {

// Timed frames -> deinterlacing, filters -> canonical layout.
class Decoder final : public FrameSource {
 public:
  // why_on_cpu: why the card doesn't decode, where it was to.
  Decoder(const SourceConfig& config, const std::string& why_on_cpu);
  const StreamInfo& info() const override { return info_; }
  ReadStatus next(Frame& out) override;
  const SourceCounters& counters() const override { return counters_; }
  const Fault& fault() const override { return fault_; }
  StreamEnd end() const override { return playback_.reader().end(); }
  void interrupt() override { *interrupted_ = true; }
  bool seek(std::int64_t pts_ns) override;
  void recycle(Frame frame) override { shells_.give(frame.release()); }

 private:
  ReadStatus produce(Frame& out);
  FrameOrigin origin_of(const AVFrame& frame, const FrameTime& time) const;
  ReadStatus next_decoded(AVFrame& frame, FrameTime& time);
  ReadStatus next_filtered(AVFrame& frame, FrameTime& time);
  void note_off_card(const AVFrame& frame);
  void fail(Fault fault);
  void open_first();

  const SourceConfig config_;
  const std::shared_ptr<std::atomic<bool>> interrupted_;
  SourceCounters counters_;
  FrameShells shells_;
  Playback playback_;
  Converter converter_;
  FrameFilters filters_;
  bool filtering_ = false;  // frames pass through filters_
  const bool is_device_ = locate_input(config_.uri).is_device;
  StreamInfo info_;
  Frame first_;
  std::int64_t delivered_ = 0;
  bool failed_ = false;
  Fault fault_;
};

Decoder::Decoder(const SourceConfig& config, const std::string& why_on_cpu)
    : config_(config),
      interrupted_(config.stop ? config.stop : std::make_shared<std::atomic<bool>>(false)),
      playback_(config_, *interrupted_, counters_),
      converter_(config_.keep_first_format),
      filters_(config_, shells_) {
  open_first();
  if (info_.hwdec_reason.empty()) info_.hwdec_reason = why_on_cpu.empty() ? config_.why_no_hwdec : why_on_cpu;
}

void Decoder::open_first() {
  ReadStatus status = ReadStatus::kAgain;
  {
    const ErrorCapture log;
    while (status == ReadStatus::kAgain) status = produce(first_);
    if (status != ReadStatus::kOk) throw_fault(playback_.why_no_frame(log.first()));
    if (config_.hwdec != HwDecode::kNo && info_.hwdec == "no") {
      info_.hwdec_reason = log.first().empty()
                               ? fmt::format("the GPU decodes no {} of {}", info_.codec, info_.pixel_format)
                               : log.first();
    }
  }
  describe_filters(filters_, info_);
  describe_converter(converter_, first_.view(), info_);
  if (!playback_.note().empty()) spdlog::warn("{}: {}", config_.uri, playback_.note());
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
  } catch (const Error& e) {
    fail(e.fault());
  } catch (const DeviceError& e) {
    fail(fault_of(e));
  } catch (const std::exception& e) {
    fail({ErrorKind::kInput, e.what()});
  }
  return ReadStatus::kFailed;
}

// In the middle of a stream all but a device's failure is the input's: settings were checked with the first frame.
void Decoder::fail(Fault fault) {
  failed_ = true;
  fault_ = std::move(fault);
  fault_.what = fmt::format("{}: frame {}: {}", config_.uri, delivered_, fault_.what);
  if (fault_.kind != ErrorKind::kUnavailable) fault_.kind = ErrorKind::kInput;
}

// Said once: a stream may turn into one that the card does not take.
void Decoder::note_off_card(const AVFrame& frame) {
  if (counters_.frames_off_card++ > 0 && !config_.require_hwdec) return;
  const char* format = av_get_pix_fmt_name(static_cast<AVPixelFormat>(frame.format));
  const std::string what = fmt::format("the GPU decodes no {} of {}, {}x{}", info_.codec,
                                       format != nullptr ? format : "unknown", frame.width, frame.height);
  if (config_.require_hwdec) {
    throw UnavailableError(fmt::format("no hardware decoding: {}", what), Hint::kCpuDecoding);
  }
  spdlog::info("{}: decoded on the CPU from frame {} on: {}", config_.uri, delivered_, what);
}

bool Decoder::seek(std::int64_t pts_ns) {
  if (!playback_.seek(pts_ns)) return false;
  first_ = Frame{};
  filters_.reset();
  failed_ = false;
  fault_ = {};
  return true;
}

ReadStatus Decoder::produce(Frame& out) {
  if (*interrupted_) return ReadStatus::kFailed;
  if (config_.max_frames && delivered_ >= *config_.max_frames) return ReadStatus::kEnd;
  AvFramePtr shell = shells_.take();
  FrameTime time;
  const ReadStatus status = next_filtered(*shell, time);
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
  const bool live = playback_.reader().live();
  const FrameOrigin origin = live ? origin_of(*shell, time) : FrameOrigin{};
  out = Frame(std::move(shell), view);
  out.origin() = origin;
  return ReadStatus::kOk;
}

// By the stream's own time, where it gave one: `time` is made to rise.
FrameOrigin Decoder::origin_of(const AVFrame& frame, const FrameTime& time) const {
  const std::int64_t stamp = frame.best_effort_timestamp;
  const std::int64_t stamp_ns =
      stamp == AV_NOPTS_VALUE ? time.pts_ns : av_rescale_q(stamp, playback_.stream().time_base, {1, 1000000000});
  return frame_origin(playback_.format(), is_device_, stamp_ns, arrived_ns(frame));
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
  if (info_.hwdec != "no" && !is_on_card(frame)) note_off_card(frame);
  // Filters work on the host, and a crop at the left or the top is done there.
  const bool cropped = frame.crop_left != 0 || frame.crop_top != 0;
  const FieldWork before = filters_.field_work();
  filtering_ = filters_.wants(frame, playback_.codec().codec_id) || filtering_;
  if (!is_first && before != filters_.field_work()) spdlog::info("{}: {}", config_.uri, filters_.field_note());
  if (!config_.keep_on_card || filtering_ || cropped) copy_to_host(frame);
  return status;
}

// The next frame out of the filters, where there are any.
ReadStatus Decoder::next_filtered(AVFrame& frame, FrameTime& time) {
  for (;;) {
    if (filtering_) {
      const ReadStatus pulled = filters_.pull(frame, time);
      if (pulled == ReadStatus::kOk) {
        resolve_tags(frame, playback_.gray_is_limited());
        counters_.pts_not_rising += time.not_rising ? 1 : 0;
      }
      if (pulled != ReadStatus::kAgain) return pulled;
    }
    const ReadStatus status = next_decoded(frame, time);
    if (status == ReadStatus::kEnd && filtering_) {
      filters_.finish();
      continue;
    }
    if (status != ReadStatus::kOk || !filtering_) return status;
    if (!filters_.push(frame, time, playback_.frame_rate())) return ReadStatus::kEnd;
  }
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
  throw UnavailableError(fmt::format("{}: no hardware decoding: {}", config.uri, why_not), Hint::kCpuDecoding);
}

}  // namespace

std::unique_ptr<FrameSource> open_decoder(const SourceConfig& config) {
  route_ffmpeg_log();
  std::unique_ptr<FrameSource> source =
      config.hwdec == HwDecode::kNo ? std::make_unique<Decoder>(config, "") : open_on_card(config);
  if (const StreamInfo& info = source->info(); !info.hwdec_reason.empty()) {
    spdlog::info("{}: decoded on the CPU: {}", config.uri, info.hwdec_reason);
  }
  return source;
}

}  // namespace saccade
