#include "pipeline/source/decode/times.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <new>
#include <utility>

#include "pipeline/clock.h"
#include "pipeline/source/convert/fields.h"
#include "pipeline/source/demux/options.h"
#include "pipeline/source/ffmpeg/versions.h"

namespace saccade {
namespace {

constexpr AVRational kNanoseconds = {1, 1000000000};
constexpr std::int64_t kSecond = 1000000000;
constexpr std::int64_t kSlack = 500;  // half a microsecond: times are printed, and typed, with six digits
constexpr std::int64_t kDefaultFrame = kSecond / 25;
constexpr std::int64_t kTransitMax = 10 * kSecond;  // from capture to arrival

// `limit`: nullopt: none is needed.
bool lies_before(std::int64_t byte, std::optional<std::int64_t> limit) {
  return !limit || (byte >= 0 && byte <= *limit);
}

std::int64_t to_ns(double seconds) { return static_cast<std::int64_t>(std::llround(seconds * 1e9)); }

}  // namespace

TimedFrames::TimedFrames(const SourceConfig& config, const InputLocation& location, const FfmpegLog& log,
                         const std::atomic<bool>& interrupted, SourceCounters& counters)
    : config_(config),
      location_(location),
      log_(log),
      interrupted_(interrupted),
      counters_(counters),
      stamps_(config, location_, interrupted),
      loops_left_(config.loops),
      held_(av_frame_alloc()),
      joins_all_(config.deinterlace == Deinterlace::kYes || deinterlaces_alone(config)) {
  if (!held_) throw std::bad_alloc();
  begin_play();
}

// The old one goes first: a pipe or a device may be open once only.
void TimedFrames::open() {
  packets_.reset();
  packets_ = std::make_unique<PacketDecoder>(config_, location_, log_, interrupted_, counters_);
}

PtsClock TimedFrames::new_clock() const {
  const AVRational rate = video().frame_rate();
  return PtsClock(rate.num > 0 ? av_rescale_q(1, av_inv_q(rate), kNanoseconds) : kDefaultFrame,
                  av_rescale_q(1, video().stream->time_base, kNanoseconds));
}

bool TimedFrames::seek(std::int64_t pts_ns) {
  if (location_.kind == InputKind::kPipe || location_.kind == InputKind::kDevice || !base_ns_) return false;
  set_base(*base_ns_);
  start_ns_ = std::max(start_ns_, pts_ns);
  clock_ = new_clock();
  last_.reset();
  loop_offset_ns_ = 0;
  loops_left_ = config_.loops;
  first_of_play_ = true;
  first_is_held_ = last_needs_next_ = false;
  past_end_ = false;
  seek_to_start();
  return true;
}

void TimedFrames::begin_play() {
  open();
  clock_ = new_clock();
  first_of_play_ = true;
  last_needs_next_ = false;
  past_end_ = false;
  play_frames_ = 0;
  if (config_.start_s > 0 && location_.kind != InputKind::kPipe) enter_at_start();
}

// The stream's first time is its first frame's. Its header tells that of the first packet, which in AVI is a decode
// time, and in a stream that was cut belongs to pictures that can't be decoded: then a frame has to come out first.
void TimedFrames::enter_at_start() {
  const AVStream& s = *video().stream;
  if (!base_ns_ && s.start_time == AV_NOPTS_VALUE) return;
  if (!base_ns_ && packets_->begins_at(s.start_time)) {
    set_base(av_rescale_q(s.start_time, s.time_base, kNanoseconds));
  }
  if (base_ns_) {
    seek_to_start();
  } else {
    open();
    enters_after_first_ = true;
  }
}

void TimedFrames::set_base(std::int64_t base_ns) {
  base_ns_ = base_ns;
  start_ns_ = config_.start_s > 0 ? base_ns + to_ns(config_.start_s) : std::numeric_limits<std::int64_t>::min();
  end_ns_ = config_.duration_s ? base_ns + to_ns(config_.start_s + *config_.duration_s)
                               : std::numeric_limits<std::int64_t>::max();
}

// To a key frame from which the pictures at the start come out as in a whole run. Demuxers seek by decode time or
// roughly, so what comes out is looked at (Note [Exact entry]): see enters_badly().
void TimedFrames::seek_to_start() {
  if (!demuxer().in_first_link()) open();
  tries_back_ = 0;
  rejected_packet_ = AV_NOPTS_VALUE;
  corrupt_before_ = counters_.packets_corrupt;
  seek_back();
}

// To the next place to try; at last, from the beginning.
void TimedFrames::seek_back() {
  constexpr std::array<std::int64_t, 5> kBack = {kSecond / 5, 3 * kSecond, 15 * kSecond, 60 * kSecond, 240 * kSecond};
  clock_ = new_clock();
  av_frame_unref(held_.get());
  counters_.packets_corrupt = corrupt_before_;
  entering_ = false;
  if (tries_back_ < kBack.size()) entering_ = seek_before(start_ns_ - kBack[tries_back_++]);
  if (!entering_) open();
}

// False: the place can't be found by its stamp. See Note [Stamps that begin again].
bool TimedFrames::seek_before(std::int64_t ns) {
  const AVRational base = video().stream->time_base;
  if (!packets_->seek(av_rescale_q(ns, kNanoseconds, base))) return false;
  latest_entry_byte_.reset();
  if (!RisingStamps::needed_by(demuxer())) return true;
  latest_entry_byte_ = stamps_.reach(av_rescale_q(start_ns_, kNanoseconds, base));
  return latest_entry_byte_.has_value();
}

// Of a frame after a seek, or of the end when there is none: whether another place has to be tried. What failed before
// the first exact picture is no damage of the input.
bool TimedFrames::enters_badly(const AVFrame* frame, bool reached) {
  EntryCheck& entry = packets_->entry();
  if (frame == nullptr) return entry.frames() == 0;
  if (entry.frames() == 1) {
    const std::optional<std::int64_t> pts = raw_pts_ns(*frame);
    const bool again = entry.first_packet() != AV_NOPTS_VALUE && entry.first_packet() == rejected_packet_;
    rejected_packet_ = entry.first_packet();
    if (again || !pts || *pts > start_ns_ || entry.stamp_is_wrong()) return true;
    if (!lies_before(entry.first_byte(), latest_entry_byte_)) return true;
  }
  if (!reached) return false;
  const std::optional<std::int64_t> pts = raw_pts_ns(*frame);
  const bool begins_here = pts && *pts <= start_ns_ + kSlack;
  if (!entry.exact() || !(entry.exact_before() || (begins_here && !needs_neighbours(*frame)))) return true;
  if (!entry.first_was_exact()) counters_.packets_corrupt = corrupt_before_;
  entry.stop();
  entering_ = false;
  return false;
}

std::optional<std::int64_t> TimedFrames::raw_pts_ns(const AVFrame& frame) const {
  if (frame.best_effort_timestamp == AV_NOPTS_VALUE) return std::nullopt;
  return av_rescale_q(frame.best_effort_timestamp, video().stream->time_base, kNanoseconds);
}

// A flag may mean something else: then a frame is read too many.
bool TimedFrames::needs_neighbours(const AVFrame& frame) const {
  return joins_all_ || (config_.deinterlace == Deinterlace::kAuto && is_interlaced(frame));
}

// Of the first frame of a play, which waits meanwhile.
void TimedFrames::put_neighbour_first(AVFrame& frame, FrameTime& time) {
  if (held_->buf[0] != nullptr && needs_neighbours(frame)) {
    const AvFramePtr first(av_frame_clone(&frame));
    if (!first) throw std::bad_alloc();
    av_frame_unref(&frame);
    av_frame_move_ref(&frame, held_.get());
    av_frame_move_ref(held_.get(), first.get());
    std::swap(time, held_time_);
    time.pts_ns += loop_offset_ns_;
    time.neighbour = true;
    time.begins = std::exchange(held_time_.begins, false);
    first_is_held_ = true;
  } else {
    av_frame_unref(held_.get());
  }
}

ReadStatus TimedFrames::next(AVFrame& frame, FrameTime& time) {
  if (std::exchange(first_is_held_, false)) {
    av_frame_move_ref(&frame, held_.get());
    time = held_time_;
    return ReadStatus::kOk;
  }
  for (;;) {
    const ReadStatus status = past_end_ ? ReadStatus::kEnd : next_of_play(frame, time);
    if (status == ReadStatus::kEnd) {
      past_end_ = true;
      if (end().lost || !start_next_play()) return ReadStatus::kEnd;
      continue;
    }
    if (status != ReadStatus::kOk) return status;
    if (first_of_play_ && last_) loop_offset_ns_ = last_->pts_ns + last_->duration_ns - time.pts_ns;
    time.pts_ns += loop_offset_ns_;
    if (time.neighbour) {
      past_end_ = true;
      return ReadStatus::kOk;
    }
    time.begins = std::exchange(first_of_play_, false);
    last_ = time;
    ++play_frames_;
    if (time.begins) put_neighbour_first(frame, time);
    return ReadStatus::kOk;
  }
}

// The next frame inside the wanted span, or the one next to its end, by the stream's own time.
ReadStatus TimedFrames::next_of_play(AVFrame& frame, FrameTime& time) {
  for (;;) {
    const ReadStatus status = packets_->decode(frame);
    if (entering_ && status == ReadStatus::kEnd && !end().lost && enters_badly(nullptr, false)) {
      seek_back();
      continue;
    }
    if (status != ReadStatus::kOk) return status;
    ++decoded_;
    time = time_of(frame);
    if (!base_ns_) set_base(time.pts_ns);
    if (std::exchange(enters_after_first_, false)) {
      av_frame_unref(&frame);
      seek_to_start();
      continue;
    }
    const bool reached = time.pts_ns + kSlack >= start_ns_;
    if (entering_ && enters_badly(&frame, reached)) {
      av_frame_unref(&frame);
      seek_back();
      continue;
    }
    if (!reached) {
      av_frame_unref(held_.get());
      av_frame_move_ref(held_.get(), &frame);
      held_time_ = time;
      continue;
    }
    if (config_.duration_s && time.pts_ns >= end_ns_ - kSlack) {
      time.neighbour = std::exchange(last_needs_next_, false);
      if (time.neighbour) return ReadStatus::kOk;
      av_frame_unref(&frame);
      return ReadStatus::kEnd;
    }
    last_needs_next_ = needs_neighbours(frame);
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
    return clock_.next(stamp_ns(frame), duration > 0 ? av_rescale_q(duration, base, kNanoseconds) : 0);
  }
  if (const AVRational rate = given_rate(config_.input); rate.num > 0) {
    return clock_.next(av_rescale_q(decoded_ - 1 + counters_.packets_late, av_inv_q(rate), kNanoseconds), 0);
  }
  const std::int64_t time_ns = arrivals_.next(packets_->arrived_ns());
  if (!began_ns_) began_ns_ = time_ns;
  return clock_.next(time_ns - *began_ns_, 0);
}

// The stream's own time; a live sender's without the steps of its clock.
std::optional<std::int64_t> TimedFrames::stamp_ns(const AVFrame& frame) {
  const std::optional<std::int64_t> raw_ns = raw_pts_ns(frame);
  if (!raw_ns || !demuxer().live()) return raw_ns;
  const std::int64_t time_ns = sender_.next(*raw_ns, packets_->arrived_ns());
  if (sender_.step_ns() != 0 && !std::exchange(sender_stepped_, true)) {
    config_.log.warn("{}: the sender's clock stepped by {:.3f} s; times go on by arrival", config_.uri,
                     static_cast<double>(sender_.step_ns()) * 1e-9);
  }
  return time_ns;
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
  if (location_.kind == InputKind::kDevice) {
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
