#include "pipeline/source/decode/decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <exception>
#include <optional>
#include <utility>

#include "gpu/device_error.h"
#include "gpu/nvdec/kept_decoders.h"
#include "pipeline/error.h"
#include "pipeline/source/convert/picture.h"
#include "pipeline/source/decode/describe.h"
#include "pipeline/source/decode/times.h"
#include "pipeline/source/ffmpeg/hardware.h"
#include "pipeline/source/ffmpeg/log.h"
#include "pipeline/source/frame/frame_pool.h"

extern "C" {
#include <libavutil/pixdesc.h>
}

namespace saccade {
namespace {

// The stages of decoding in order, each in a file of its name:
//   demux    opens the container, reads the packets of one stream                    demux/demuxer.h
//   packets  packets -> decoded frames                                               decode/packets.h
//   times    stamps -> times that rise; start, duration, loops                       decode/times.h
//   picture  tags, deinterlacing, filters, conversion, rotation: canonical pictures  convert/picture.h
// The first three pull from each other; filters in the last one hold frames back, so it is pushed to and pulled from.
class Decoder final : public FrameSource {
 public:
  // why_on_cpu: why the GPU doesn't decode, where it was to.
  Decoder(const SourceConfig& config, const InputLocation& location, const std::string& why_on_cpu);
  ~Decoder() override;
  ReadStatus next(Frame& out) override;
  StreamEnd end() const override { return times_->end(); }
  void interrupt() override { *interrupted_ = true; }
  bool seek(std::int64_t pts_ns) override;
  void recycle(Frame frame) override { empty_frames_.give(frame.release()); }

 private:
  ReadStatus produce(Frame& out);
  void note_decoders();
  void note_off_device(const AVFrame& frame);
  void fail(Fault fault);
  void open_first();

  const SourceConfig config_;
  const std::shared_ptr<std::atomic<bool>> interrupted_;
  const FfmpegLog ffmpeg_log_;
  EmptyFrames empty_frames_;
  std::optional<TimedFrames> times_;     // never empty; optional, to be made and destroyed inside a Scope
  std::optional<PictureStage> picture_;  // likewise
  Frame first_;
  void* device_stream_ = nullptr;  // where the GPU decodes; null: it doesn't
  bool failed_ = false;
};

// The stages in order, up to the next frame.
ReadStatus Decoder::produce(Frame& out) {
  if (*interrupted_) return ReadStatus::kFailed;
  if (config_.max_frames && counters_.frames >= *config_.max_frames) return ReadStatus::kEnd;
  for (;;) {
    const ReadStatus made = picture_->pull(out, times_->video());
    if (made != ReadStatus::kAgain) return made;
    AvFramePtr frame = empty_frames_.take();
    FrameTime time;
    const ReadStatus status = times_->next(*frame, time);  // demux, packets, times
    if (status != ReadStatus::kOk) {
      empty_frames_.give(std::move(frame));
      if (status != ReadStatus::kEnd) return status;
      picture_->finish();
      continue;
    }
    if (info_.codec.empty() && !time.neighbour) describe_input(*times_, *frame, config_, info_);
    if (is_on_device(*frame)) device_stream_ = device_place(*frame).stream;
    if (info_.hwdec != HwDecode::kNo && !is_on_device(*frame)) note_off_device(*frame);
    picture_->push(std::move(frame), time, times_->video());
  }
}

Decoder::Decoder(const SourceConfig& config, const InputLocation& location, const std::string& why_on_cpu)
    : config_(config),
      interrupted_(config.stop ? config.stop : std::make_shared<std::atomic<bool>>(false)),
      ffmpeg_log_(config.log, interrupted_) {
  const FfmpegLog::Scope scope(ffmpeg_log_);
  times_.emplace(config_, location, ffmpeg_log_, *interrupted_, counters_);
  picture_.emplace(config_, empty_frames_, counters_);
  open_first();
  if (info_.hwdec_reason.empty()) info_.hwdec_reason = why_on_cpu.empty() ? config_.why_no_hwdec : why_on_cpu;
}

// What FFmpeg says while it closes belongs to this source as well.
Decoder::~Decoder() {
  const FfmpegLog::Scope scope(ffmpeg_log_);
  picture_.reset();
  times_.reset();
}

void Decoder::open_first() {
  ReadStatus status = ReadStatus::kAgain;
  {
    const ErrorCapture log;
    while (status == ReadStatus::kAgain) status = produce(first_);
    if (status != ReadStatus::kOk) throw_fault(why_no_frame(*times_, config_, log.first()));
    if (config_.hwdec != HwDecode::kNo && info_.hwdec == HwDecode::kNo) {
      info_.hwdec_reason = log.first().empty()
                               ? fmt::format("the GPU decodes no {} of {}", info_.codec, info_.pixel_format)
                               : log.first();
    }
  }
  picture_->describe(first_, info_);
  if (const std::string& note = times_->demuxer().note(); !note.empty()) config_.log.warn("{}: {}", config_.uri, note);
  for (const std::string& note : info_.notes) config_.log.debug("{}: {}", config_.uri, note);
}

ReadStatus Decoder::next(Frame& out) {
  if (failed_) return ReadStatus::kFailed;
  if (first_) {
    out = std::exchange(first_, Frame{});
    return ReadStatus::kOk;
  }
  const FfmpegLog::Scope scope(ffmpeg_log_);
  try {
    const ReadStatus status = produce(out);
    if (status == ReadStatus::kEnd) note_decoders();
    if (status == ReadStatus::kFailed) return ReadStatus::kEnd;  // interrupted
    if (status == ReadStatus::kEnd && times_->end().lost) {
      fail({ErrorKind::kInput, times_->end().reason, Hint::kNone, {}, times_->end().error});
      return ReadStatus::kFailed;
    }
    return status;
  } catch (const std::exception&) {
    fail(caught_fault(ErrorKind::kInput));
  }
  return ReadStatus::kFailed;
}

// The GPU conceals what it can't decode, and FFmpeg doesn't ask.
void Decoder::note_decoders() {
  const DecoderUse decoders = decoders_of(device_stream_);
  counters_.decoder_used = decoders.used;
  counters_.decoder_erred = decoders.erred;
  counters_.frames_corrupt = std::max(counters_.frames_corrupt, decoders.failed_shown);
}

// In the middle of a stream all but the machine's failure is the input's: settings were checked with the first frame.
void Decoder::fail(Fault fault) {
  failed_ = true;
  note_decoders();
  fault_ = in_context(fault, fmt::format("{}: frame {}", config_.uri, counters_.frames));
  if (!is_of_machine(fault_.kind)) fault_.kind = ErrorKind::kInput;
}

// Logged once: a stream may change into one that the GPU does not decode.
void Decoder::note_off_device(const AVFrame& frame) {
  if (counters_.frames_off_device++ > 0 && !config_.require_hwdec) return;
  const char* format = av_get_pix_fmt_name(static_cast<AVPixelFormat>(frame.format));
  const std::string what = fmt::format("the GPU decodes no {} of {}, {}x{}", info_.codec,
                                       format != nullptr ? format : "unknown", frame.width, frame.height);
  if (config_.require_hwdec) {
    throw UnavailableError(OfOption("require-hwdec"), fmt::format("no hardware decoding: {}", what),
                           Hint::kCpuDecoding);
  }
  config_.log.info("{}: decoded on the CPU from frame {} on: {}", config_.uri, counters_.frames, what);
}

bool Decoder::seek(std::int64_t pts_ns) {
  const FfmpegLog::Scope scope(ffmpeg_log_);
  try {
    if (!times_->seek(pts_ns)) return false;
  } catch (const std::exception&) {  // it could not be opened again
    fail(caught_fault(ErrorKind::kInput));
    throw;
  }
  first_ = Frame{};
  picture_->reset();
  failed_ = false;
  fault_ = {};
  return true;
}

// Where the GPU can't decode it, the input is reopened for the CPU: with its threads, and with the decoder best for it.
std::unique_ptr<FrameSource> open_on_device(const SourceConfig& config, const InputLocation& location) {
  const bool only_once = location.kind == InputKind::kPipe;
  std::string why_not;
  try {
    auto decoder = std::make_unique<Decoder>(config, location, "");
    why_not = decoder->info().hwdec_reason;
    if (why_not.empty() || (only_once && !config.require_hwdec)) return decoder;
  } catch (const Error& e) {
    if (only_once && !config.require_hwdec) throw;
    why_not = e.what();
  }
  SourceConfig on_cpu = config;
  on_cpu.hwdec = HwDecode::kNo;
  if (!only_once) {
    // What is wrong with the input itself comes out here.
    auto decoder = std::make_unique<Decoder>(on_cpu, location, why_not);
    if (!config.require_hwdec) return decoder;
  }
  throw UnavailableError(OfOption("require-hwdec").in(config.uri), fmt::format("no hardware decoding: {}", why_not),
                         Hint::kCpuDecoding, says_no_memory(why_not) ? ENOMEM : 0);
}

}  // namespace

std::unique_ptr<FrameSource> open_decoder(const SourceConfig& config, const InputLocation& location) {
  std::unique_ptr<FrameSource> source = config.hwdec == HwDecode::kNo ? std::make_unique<Decoder>(config, location, "")
                                                                      : open_on_device(config, location);
  if (const StreamInfo& info = source->info(); !info.hwdec_reason.empty()) {
    config.log.info("{}: decoded on the CPU: {}", config.uri, info.hwdec_reason);
  }
  return source;
}

}  // namespace saccade
