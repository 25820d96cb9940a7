#include "pipeline/source/decode/times.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <new>
#include <utility>

#include "pipeline/clock.h"
#include "pipeline/source/demux/options.h"
#include "pipeline/source/ffmpeg/versions.h"

namespace saccade {
namespace {

constexpr AVRational kNanoseconds = {1, 1000000000};
constexpr std::int64_t kSecond = 1000000000;
constexpr std::int64_t kSlack = 500;  // half a microsecond: times are printed, and typed, with six digits
constexpr std::int64_t kDefaultFrame = kSecond / 25;
constexpr std::int64_t kTransitMax = 10 * kSecond;  // from capture to arrival

std::int64_t to_ns(double seconds) { return static_cast<std::int64_t>(std::llround(seconds * 1e9)); }

}  // namespace

TimedFrames::TimedFrames(const SourceConfig& config, const InputLocation& location, const FfmpegLog& log,
                         const std::atomic<bool>& interrupted, SourceCounters& counters)
    : config_(config),
      location_(location),
      log_(log),
      interrupted_(interrupted),
      counters_(counters),
      loops_left_(config.loops) {
  begin_play();
}

// The old one goes first: a pipe or a device may be open once only.
void TimedFrames::open() {
  packets_.reset();
  packets_ = std::make_unique<PacketDecoder>(config_, location_, log_, interrupted_, counters_);
}

PtsClock TimedFrames::new_clock() const {
  const AVRational rate = video().frame_rate();
  return PtsClock(rate.num > 0 ? av_rescale_q(1, av_inv_q(rate), kNanoseconds) : kDefaultFrame);
}

bool TimedFrames::seek(std::int64_t pts_ns) {
  if (location_.is_stdin || location_.is_device || !base_ns_) return false;
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

void TimedFrames::begin_play() {
  open();
  clock_ = new_clock();
  first_of_play_ = true;
  past_end_ = false;
  play_frames_ = 0;
  peeked_.reset();
  const AVStream& s = *video().stream;
  if (s.start_time != AV_NOPTS_VALUE) set_base(av_rescale_q(s.start_time, s.time_base, kNanoseconds));
  if (config_.start_s > 0 && base_ns_) seek_to_start();
}

void TimedFrames::set_base(std::int64_t base_ns) {
  base_ns_ = base_ns;
  start_ns_ = config_.start_s > 0 ? base_ns + to_ns(config_.start_s) : std::numeric_limits<std::int64_t>::min();
  end_ns_ = config_.duration_s ? base_ns + to_ns(config_.start_s + *config_.duration_s)
                               : std::numeric_limits<std::int64_t>::max();
}

// To a key frame whose picture is not later than the start. Demuxers seek by decode time or roughly, so what comes out
// first is looked at; when it is too late, further back; at last, from the beginning.
void TimedFrames::seek_to_start() {
  constexpr std::array<std::int64_t, 3> kBack = {kSecond / 5, 3 * kSecond, 15 * kSecond};
  for (const std::int64_t back : kBack) {
    const std::int64_t ts = av_rescale_q(start_ns_ - back, kNanoseconds, video().stream->time_base);
    if (!packets_->seek(ts)) break;
    AvFramePtr frame(av_frame_alloc());
    if (!frame) throw std::bad_alloc();
    ReadStatus status = ReadStatus::kAgain;
    while (status == ReadStatus::kAgain) status = packets_->decode(*frame);
    if (status == ReadStatus::kFailed) return;
    const std::optional<std::int64_t> pts = raw_pts_ns(*frame);
    if (status == ReadStatus::kOk && pts && *pts <= start_ns_) {
      peeked_ = std::move(frame);
      return;
    }
  }
  open();
}

std::optional<std::int64_t> TimedFrames::raw_pts_ns(const AVFrame& frame) const {
  if (frame.best_effort_timestamp == AV_NOPTS_VALUE) return std::nullopt;
  return av_rescale_q(frame.best_effort_timestamp, video().stream->time_base, kNanoseconds);
}

ReadStatus TimedFrames::decode(AVFrame& frame) {
  if (peeked_) {
    av_frame_move_ref(&frame, peeked_.get());
    peeked_.reset();
    return ReadStatus::kOk;
  }
  return packets_->decode(frame);
}

ReadStatus TimedFrames::next(AVFrame& frame, FrameTime& time) {
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
ReadStatus TimedFrames::next_of_play(AVFrame& frame, FrameTime& time) {
  for (;;) {
    const ReadStatus status = decode(frame);
    if (status != ReadStatus::kOk) return status;
    ++decoded_;
    time = time_of(frame);
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
    if (demuxer().live()) attach_origin(frame, origin_of(frame, time));
    return ReadStatus::kOk;
  }
}

// By the stream's own stamps; where it has none, at the rate that the user gave, or by arrival.
FrameTime TimedFrames::time_of(const AVFrame& frame) {
  if (!demuxer().timeless()) {
    const std::int64_t duration = frame_duration(frame);
    const AVRational base = video().stream->time_base;
    return clock_.next(raw_pts_ns(frame), duration > 0 ? av_rescale_q(duration, base, kNanoseconds) : 0);
  }
  if (const AVRational rate = given_rate(config_.input); rate.num > 0) {
    return clock_.next(av_rescale_q(decoded_ - 1 + counters_.packets_late, av_inv_q(rate), kNanoseconds), 0);
  }
  const std::int64_t time_ns = arrivals_.next(packets_->arrived_ns());
  if (!began_ns_) began_ns_ = time_ns;
  return clock_.next(time_ns - *began_ns_, 0);
}

// By the stream's own time, where it gave one: `time` is made to rise. See Note [Capture time].
FrameOrigin TimedFrames::origin_of(const AVFrame& frame, const FrameTime& time) const {
  const std::int64_t arrived_ns = packets_->arrived_ns();
  FrameOrigin origin{arrived_ns, arrived_ns, CaptureClock::kArrival, 0};
  const std::int64_t stamp_ns = raw_pts_ns(frame).value_or(time.pts_ns);
  const std::int64_t ahead_ns = unix_minus_steady_ns();
  const auto take = [&](std::int64_t captured_ns, CaptureClock clock) {
    const std::int64_t transit_ns = arrived_ns - captured_ns;
    if (transit_ns < 0 || transit_ns > kTransitMax) return;
    origin.captured_ns = captured_ns;
    origin.clock = clock;
  };
  const std::int64_t zero_us = video().format->start_time_realtime;  // by the sender's wall clock
  if (location_.is_device) {
    take(stamp_ns, CaptureClock::kDriver);
    take(stamp_ns - ahead_ns, CaptureClock::kDriver);
  } else if (zero_us != AV_NOPTS_VALUE && zero_us > 0) {
    take(zero_us * 1000 + stamp_ns - ahead_ns, CaptureClock::kSender);
  }
  return origin;
}

bool TimedFrames::start_next_play() {
  if (loops_left_ == 0 || play_frames_ == 0) return false;
  if (loops_left_ > 0) --loops_left_;
  begin_play();
  return true;
}

}  // namespace saccade
