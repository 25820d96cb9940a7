#include "pipeline/source/decode/playback.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <new>
#include <string_view>
#include <utility>

#include "pipeline/error.h"
#include "pipeline/source/ffmpeg/av_versions.h"

namespace saccade {
namespace {

constexpr AVRational kNanoseconds = {1, 1000000000};
constexpr std::int64_t kSecond = 1000000000;
constexpr std::int64_t kSlack = 500;  // half a microsecond: times are printed, and typed, with six digits
constexpr std::int64_t kDefaultFrame = kSecond / 25;

std::int64_t to_ns(double seconds) { return static_cast<std::int64_t>(std::llround(seconds * 1e9)); }

}  // namespace

Playback::Playback(const SourceConfig& config, const std::atomic<bool>& interrupted, SourceCounters& counters)
    : config_(config), interrupted_(interrupted), counters_(counters), loops_left_(config.loops) {
  if (config.loops != 0 && locate_input(config.uri).is_stdin) {
    throw UsageError("-: standard input can't be looped, a file can", Hint::kNoLoop);
  }
  begin_play();
}

AVRational Playback::frame_rate() const {
  const AVRational rate = av_guess_frame_rate(&format(), &stream(), nullptr);
  return rate.num > 0 && rate.den > 0 ? rate : AVRational{0, 1};
}

bool Playback::gray_is_limited() const { return std::string_view(format().iformat->name).find("yuv4mpeg") == 0; }

PtsClock Playback::new_clock() const {
  const AVRational rate = frame_rate();
  return PtsClock(rate.num > 0 ? av_rescale_q(1, av_inv_q(rate), kNanoseconds) : kDefaultFrame);
}

bool Playback::seek(std::int64_t pts_ns) {
  const InputLocation input = locate_input(config_.uri);
  if (input.is_stdin || input.is_device || !base_ns_) return false;
  set_base(*base_ns_);
  start_ns_ = std::max(start_ns_, pts_ns);
  clock_ = new_clock();
  peeked_.reset();
  last_.reset();
  loop_offset_ns_ = 0;
  loops_left_ = config_.loops;
  first_of_play_ = true;
  past_end_ = false;
  seek_to_start();
  return true;
}

void Playback::begin_play() {
  decoder_.reset();
  decoder_ = std::make_unique<StreamDecoder>(config_, interrupted_, counters_);
  clock_ = new_clock();
  first_of_play_ = true;
  past_end_ = false;
  play_frames_ = 0;
  peeked_.reset();
  const AVStream& s = stream();
  if (s.start_time != AV_NOPTS_VALUE) set_base(av_rescale_q(s.start_time, s.time_base, kNanoseconds));
  if (config_.start_s > 0 && base_ns_) seek_to_start();
}

void Playback::set_base(std::int64_t base_ns) {
  base_ns_ = base_ns;
  start_ns_ = config_.start_s > 0 ? base_ns + to_ns(config_.start_s) : std::numeric_limits<std::int64_t>::min();
  end_ns_ = config_.duration_s ? base_ns + to_ns(config_.start_s + *config_.duration_s)
                               : std::numeric_limits<std::int64_t>::max();
}

// To a key frame whose picture is not later than the start. Demuxers seek by decode time or roughly, so what comes out
// first is looked at; when it is too late, further back; at last, from the beginning.
void Playback::seek_to_start() {
  constexpr std::array<std::int64_t, 3> kBack = {kSecond / 5, 3 * kSecond, 15 * kSecond};
  for (const std::int64_t back : kBack) {
    const std::int64_t ts = av_rescale_q(start_ns_ - back, kNanoseconds, stream().time_base);
    if (!decoder_->seek(ts)) break;
    AvFramePtr frame(av_frame_alloc());
    if (!frame) throw std::bad_alloc();
    ReadStatus status = ReadStatus::kAgain;
    while (status == ReadStatus::kAgain) status = decoder_->decode(*frame);
    if (status == ReadStatus::kFailed) return;
    const std::optional<std::int64_t> pts = raw_pts_ns(*frame);
    if (status == ReadStatus::kOk && pts && *pts <= start_ns_) {
      peeked_ = std::move(frame);
      return;
    }
  }
  decoder_.reset();
  decoder_ = std::make_unique<StreamDecoder>(config_, interrupted_, counters_);
}

std::optional<std::int64_t> Playback::raw_pts_ns(const AVFrame& frame) const {
  if (frame.best_effort_timestamp == AV_NOPTS_VALUE) return std::nullopt;
  return av_rescale_q(frame.best_effort_timestamp, stream().time_base, kNanoseconds);
}

ReadStatus Playback::decode(AVFrame& frame) {
  if (peeked_) {
    av_frame_move_ref(&frame, peeked_.get());
    peeked_.reset();
    return ReadStatus::kOk;
  }
  return decoder_->decode(frame);
}

ReadStatus Playback::next(AVFrame& frame, FrameTime& time) {
  for (;;) {
    const ReadStatus status = past_end_ ? ReadStatus::kEnd : next_of_play(frame, time);
    if (status == ReadStatus::kEnd) {
      past_end_ = true;
      if (!start_next_play()) return ReadStatus::kEnd;
      continue;
    }
    if (status != ReadStatus::kOk) return status;
    if (first_of_play_ && last_) loop_offset_ns_ = last_->pts_ns + last_->duration_ns - time.pts_ns;
    first_of_play_ = false;
    time.pts_ns += loop_offset_ns_;
    last_ = time;
    ++play_frames_;
    return ReadStatus::kOk;
  }
}

// The next frame inside the wanted span, by the stream's own time.
ReadStatus Playback::next_of_play(AVFrame& frame, FrameTime& time) {
  for (;;) {
    const ReadStatus status = decode(frame);
    if (status != ReadStatus::kOk) return status;
    ++decoded_;
    const std::int64_t duration = frame_duration(frame);
    time = clock_.next(raw_pts_ns(frame), duration > 0 ? av_rescale_q(duration, stream().time_base, kNanoseconds) : 0);
    if (!base_ns_) set_base(time.pts_ns);
    if (time.pts_ns + kSlack < start_ns_) {
      av_frame_unref(&frame);
      continue;
    }
    if (config_.duration_s && time.pts_ns >= end_ns_ - kSlack) {
      av_frame_unref(&frame);
      return ReadStatus::kEnd;
    }
    counters_.pts_made_up += time.made_up ? 1 : 0;
    counters_.pts_not_rising += time.not_rising ? 1 : 0;
    return ReadStatus::kOk;
  }
}

bool Playback::start_next_play() {
  if (loops_left_ == 0 || play_frames_ == 0) return false;
  if (loops_left_ > 0) --loops_left_;
  begin_play();
  return true;
}

Fault Playback::why_no_frame(const std::string& logged) const {
  const auto input = [this](const std::string& what, Hint hint = Hint::kNone) {
    return Fault{ErrorKind::kInput, fmt::format("{}: {}", config_.uri, what), hint};
  };
  if (decoder_->encrypted()) return input("the video is encrypted; decrypt it first");
  if (decoded_ > 0 && !config_.filters.empty() && config_.start_s <= 0) {
    return input(fmt::format("the filters '{}' let no frame through", config_.filters), Hint::kCheckFilters);
  }
  if (decoded_ > 0) {
    return input(
        fmt::format("no frame lies between its start at {} s and its end; the last one is earlier", config_.start_s),
        Hint::kCheckRange);
  }
  if (logged.find("exceeds specified max pixel count") != std::string::npos) {
    return input(fmt::format("a picture has more pixels than the limit of {}", config_.max_pixels),
                 Hint::kRaisePixelLimit);
  }
  std::string why = decoder_->first_fault();
  if (!logged.empty()) why += why.empty() ? logged : fmt::format(" ({})", logged);
  if (why.empty()) why = "the stream holds no picture";
  return input(fmt::format("no frame could be decoded: {}; play it with ffplay to check", why));
}

}  // namespace saccade
