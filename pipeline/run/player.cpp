#include "pipeline/run/player.h"
#include "pipeline/source/open.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <utility>

namespace saccade {
namespace {

constexpr std::size_t kQueueFrames = 4;
constexpr std::int64_t kSecond_ns = 1'000'000'000;

}  // namespace

Player::Player(const SourceConfig& config, std::optional<QueuePolicy> policy)
    : policy_(policy), source_(open_source(config)) {
  seekable_ = !source_->info().live && config.uri != "-";
  start();
  Frame first;
  if (take(first, true) == PollStatus::kFrame) {
    start_pts_ns_ = first.view().pts_ns;
    held_.push_back(std::move(first));
  }
}

Player::~Player() {
  if (decode_) decode_->stop();
}

void Player::start() {
  if (queue_) dropped_stale_ += queue_->counters().dropped_stale;
  const QueuePolicy policy = policy_in_force(policy_, source_->info().live);
  queue_ = std::make_unique<FrameQueue>(capacity_for(policy, kQueueFrames), policy);
  decode_ = std::make_unique<DecodeThread>(*source_, *queue_);
}

// Without an interrupt, which a source doesn't recover from.
void Player::stop() {
  queue_->close_now();
  if (decode_) decode_->join();
  decode_.reset();
  held_.clear();
}

void Player::interrupt() {
  source_->interrupt();  // its thread then closes the queue
}

PollStatus Player::take(Frame& out, bool may_wait) {
  if (!may_wait && queue_->size() == 0 && !queue_->drained()) return PollStatus::kLater;
  if (!queue_->pop(out)) {
    note_end();
    return PollStatus::kEnd;
  }
  last_pts_ns_ = std::max(last_pts_ns_, out.view().pts_ns);
  return PollStatus::kFrame;
}

void Player::note_end() {
  if (!decode_) return;
  decode_->join();
  if (decode_->failed()) fault_ = source_->fault();
  frames_corrupt_ = source_->counters().frames_corrupt;
}

PollStatus Player::poll(Frame& out) {
  if (held_.empty()) return take(out, false);
  out = std::move(held_.front());
  held_.pop_front();
  return PollStatus::kFrame;
}

PollStatus Player::wait(Frame& out) { return held_.empty() ? take(out, true) : poll(out); }

std::int64_t Player::duration_ns() const {
  const std::optional<double> promised_s = source_->info().duration_s;
  const std::int64_t promised_ns = promised_s ? std::llround(*promised_s * static_cast<double>(kSecond_ns)) : 0;
  return promised_ns > 0 ? std::max(promised_ns, last_pts_ns_ - start_pts_ns_) : 0;
}

bool Player::restart_at(std::int64_t pts_ns) {
  stop();
  bool sought = false;
  fault_ = {};
  try {
    sought = source_->seek(std::max(pts_ns, start_pts_ns_));
  } catch (const Error& error) {
    fault_ = error.fault();
  } catch (const std::exception& error) {
    fault_.what = error.what();
  }
  if (!fault_.what.empty()) spdlog::error("seek: {}", one_line(fault_));
  start();
  return sought;
}

// From ever further back until a frame earlier than pts_ns comes; the last such is then the next one out, and the one
// after it follows.
bool Player::hold_last_before(std::int64_t pts_ns) {
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

bool Player::seek(std::int64_t pts_ns) {
  if (!seekable_ || !restart_at(pts_ns)) return false;
  Frame frame;
  if (take(frame, true) == PollStatus::kFrame) {
    held_.push_back(std::move(frame));
    return true;
  }
  return hold_last_before(std::max(last_pts_ns_ + 1, pts_ns));
}

bool Player::seek_before(std::int64_t pts_ns) { return seekable_ && hold_last_before(pts_ns); }

}  // namespace saccade
