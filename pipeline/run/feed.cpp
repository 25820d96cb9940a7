#include "pipeline/run/feed.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <utility>

#include "pipeline/source/open.h"

namespace saccade {
namespace {

constexpr std::int64_t kSecond_ns = 1'000'000'000;

}  // namespace

Feed::Feed(const FeedConfig& config) : Feed(open_source(config.source), config) {}

Feed::Feed(std::unique_ptr<FrameSource> source, const FeedConfig& config)
    : source_(std::move(source)),
      policy_(policy_in_force(config.policy, source_->info())),
      capacity_(capacity_for(policy_, config.frames_ahead)),
      trace_(config.trace),
      log_(config.source.log),
      no_frame_(no_frame_in_range(config.source, source_->info().uri)),
      on_ready_(config.on_ready),
      seekable_(!source_->info().live && source_->info().uri != "-") {
  start();
}

Feed::~Feed() { decode_->stop(); }

void Feed::start() {
  if (queue_) past_ += queue_->counters();
  auto queue = std::make_unique<FrameQueue>(capacity_, policy_, on_ready_);
  {
    const std::lock_guard lock(mutex_);
    queue_ = std::move(queue);
    if (interrupted_) queue_->close_now();
  }
  finished_ = false;
  decode_ = std::make_unique<DecodeThread>(*source_, *queue_, trace_, log_);
}

// Without an interrupt, which a source doesn't recover from.
void Feed::close() {
  queue_->close_now();
  decode_->join();
  held_.clear();
}

void Feed::interrupt() {
  interrupted_ = true;
  source_->interrupt();
  const std::lock_guard lock(mutex_);
  if (queue_) queue_->close_now();
}

void Feed::stop() {
  decode_->stop();
  held_.clear();
  note_end();
}

// Decoding is over and its thread has come to its end.
void Feed::note_end() {
  finished_ = true;
  failed_ = decode_->failed() && !interrupted_;
  if (failed_) fault_ = source_->fault().what.empty() ? decode_->fault() : source_->fault();
}

PollStatus Feed::take(Frame& out, bool may_wait) {
  if (!may_wait && queue_->size() == 0 && !queue_->drained()) return PollStatus::kLater;
  if (!queue_->pop(out)) {
    if (interrupted_) return PollStatus::kEnd;  // the reader may still be where no interrupt reaches
    decode_->join();
    note_end();
    return PollStatus::kEnd;
  }
  if (!any_frame_) start_pts_ns_ = out.view().pts_ns;
  any_frame_ = true;
  last_pts_ns_ = std::max(last_pts_ns_, out.view().pts_ns);
  return PollStatus::kFrame;
}

PollStatus Feed::poll(Frame& out) {
  if (held_.empty()) return take(out, false);
  out = std::move(held_.front());
  held_.pop_front();
  return PollStatus::kFrame;
}

PollStatus Feed::wait(Frame& out) { return held_.empty() ? take(out, true) : poll(out); }

bool Feed::ready_within(std::chrono::nanoseconds timeout) { return !held_.empty() || queue_->ready_within(timeout); }

const Frame* Feed::peek() {
  if (held_.empty()) {
    Frame frame;
    if (take(frame, true) == PollStatus::kEnd) return nullptr;
    held_.push_back(std::move(frame));
  }
  return &held_.front();
}

void Feed::throw_no_frame() const {
  if (failed_ && !fault_.what.empty()) throw_fault(fault_);
  throw_fault(no_frame_);
}

std::int64_t Feed::duration_ns() const {
  const std::optional<double> promised_s = source_->info().duration_s;
  const std::int64_t promised_ns = promised_s ? std::llround(*promised_s * static_cast<double>(kSecond_ns)) : 0;
  return promised_ns > 0 ? std::max(promised_ns, last_pts_ns_ - start_pts_ns_) : 0;
}

QueueCounters Feed::queue_counters() const {
  QueueCounters all = past_;
  return all += queue_->counters();
}

bool Feed::restart_at(std::int64_t pts_ns) {
  close();
  bool sought = false;
  fault_ = {};
  failed_ = false;
  try {
    sought = source_->seek(std::max(pts_ns, start_pts_ns_));
  } catch (const std::exception&) {
    fault_ = caught_fault(ErrorKind::kInput);
  }
  if (!fault_.what.empty()) log_.error("seek: {}", one_line(fault_));
  start();
  return sought;
}

// From ever further back until a frame earlier than pts_ns comes; the last such is then the next one out, and the one
// after it follows.
bool Feed::hold_last_before(std::int64_t pts_ns) {
  const std::int64_t all_ns = std::max<std::int64_t>(pts_ns - start_pts_ns_, 0) + kSecond_ns;
  for (const std::int64_t back_ns : std::array{kSecond_ns, 15 * kSecond_ns, all_ns}) {
    if (!restart_at(pts_ns - back_ns)) return false;
    Frame before, frame;
    PollStatus status = PollStatus::kFrame;
    while ((status = take(frame, true)) == PollStatus::kFrame && frame.view().pts_ns < pts_ns) {
      std::swap(before, frame);
      if (frame) recycle(std::exchange(frame, Frame{}));
    }
    const bool found = static_cast<bool>(before);
    if (found) held_.push_back(std::move(before));
    if (status == PollStatus::kFrame && (found || back_ns == all_ns)) held_.push_back(std::move(frame));
    if (!held_.empty()) return true;
  }
  return true;
}

bool Feed::seek(std::int64_t pts_ns) {
  if (!seekable_) return false;
  if (!any_frame_) peek();  // where the stream starts
  if (!restart_at(pts_ns)) return false;
  Frame frame;
  if (take(frame, true) == PollStatus::kFrame) {
    held_.push_back(std::move(frame));
    return true;
  }
  return hold_last_before(std::max(last_pts_ns_ + 1, pts_ns));
}

bool Feed::seek_before(std::int64_t pts_ns) {
  if (!seekable_) return false;
  if (!any_frame_) peek();
  return hold_last_before(pts_ns);
}

}  // namespace saccade
