#include "ui/viewer/playback.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "pipeline/clock.h"
#include "pipeline/error.h"

namespace saccade::ui {
namespace {

constexpr std::int64_t kEarly_ns = 1'000'000;        // a frame this near its time is shown
constexpr double kStarved_s = 0.002;                 // how soon to look again when the decoder has nothing
constexpr double kIdle_s = 0.5;                      // while a message is to go away
constexpr std::int64_t kMessage_ns = 4'000'000'000;  // how long one stays

}  // namespace

Playback::Playback(Viewer& viewer, const PlaybackConfig& config, std::function<void()> wake)
    : viewer_(viewer),
      initial_(viewer.settings.pipeline),
      source_(config.source),
      jobs_(config.queue_policy, std::move(wake)) {}

void Playback::open() { jobs_.open(source_); }

void Playback::open_file(std::string path) {
  SourceConfig config;
  config.uri = std::move(path);
  config.threads = source_.threads;
  config.log = source_.log;
  source_ = config;
  open();
}

// The old source goes on when the new one can't be opened.
void Playback::finish_jobs() {
  try {
    if (auto opened = jobs_.take_opened()) play(std::move(opened));
  } catch (const Error& error) {
    if (viewer_.facts.stream == nullptr) throw;
    say(one_line(error.fault()));
  }
  if (const auto sought = jobs_.take_sought(); sought && !*sought) say("this input could not be sought");
}

void Playback::play(std::unique_ptr<Feed> feed) {
  replaced_ = viewer_.facts.stream != nullptr;
  next_ = Frame{};  // it belongs to the old feed
  jobs_.give_up_seeking();
  TimeFacts& time = viewer_.facts.time;
  time.start_pts_ns = feed->start_pts_ns();
  time.seekable = feed->seekable();
  time.duration_ns = feed->duration_ns();
  viewer_.attach(std::move(feed));
  wanted_ = wanted_sought_ = true;
  pacer_.stop();
}

void Playback::say(std::string message) {
  source_.log.info("{}", message);
  viewer_.facts.message = std::move(message);
}

void Playback::show(Frame frame, bool sought) {
  viewer_.show(std::move(frame), sought);
  shown_ = true;
  viewer_.facts.time.ended = false;
}

// The decoder's next frame in `next_`. False: none is ready, or there are no more.
bool Playback::fetch_next() {
  if (next_) return true;
  if (feed() == nullptr) return false;
  const PollStatus status = feed()->poll(next_);
  starved_ = status == PollStatus::kLater;
  if (status == PollStatus::kEnd) reach_end();
  return status == PollStatus::kFrame;
}

void Playback::note_end() {
  const Feed& feed = *this->feed();
  viewer_.facts.pace.frames_corrupt = feed.counters().frames_corrupt;
  if (!feed.fault().what.empty() && viewer_.facts.error.empty()) {
    viewer_.facts.error = one_line(feed.fault());
    source_.log.warn("{}", viewer_.facts.error);
  }
  wanted_ = false;
  if (!viewer_.facts.time.ended) redraw_ = true;
  viewer_.facts.time.ended = true;
  pacer_.stop();
}

void Playback::reach_end() {
  const Feed& feed = *this->feed();
  const bool from_start = viewer_.settings.loop && feed.fault().what.empty() && feed.seekable();
  if (!from_start || !viewer_.has_frame()) return note_end();
  viewer_.facts.pace.frames_corrupt = feed.counters().frames_corrupt;
  seek(feed.start_pts_ns());
}

bool Playback::advance(std::int64_t now_ns) {
  shown_ = starved_ = false;
  finish_jobs();
  if (viewer_.settings.paused != was_paused_) {
    was_paused_ = viewer_.settings.paused;
    if (!was_paused_ && viewer_.facts.time.ended) seek(viewer_.facts.time.start_pts_ns);
    pacer_.stop();
  }
  try {
    if (wanted_) {
      show_wanted(now_ns);
    } else if (playing()) {
      show_due(now_ns);
    }
  } catch (const Error& error) {  // a frame that can't be shown, as one larger than the largest texture
    if (viewer_.facts.step.counters.frames == 0 && !replaced_) throw;
    viewer_.facts.error = one_line(error.fault());
    viewer_.facts.time.ended = true;
    wanted_ = false;
    say(viewer_.facts.error);
  }
  return shown_;
}

void Playback::show_wanted(std::int64_t now_ns) {
  if (!fetch_next()) return;
  wanted_ = false;
  show(std::exchange(next_, Frame{}), wanted_sought_);
  pacer_.start_at(viewer_.facts.time.pts_ns, std::max(now_ns, steady_now_ns()));
}

// Shows what is due. A frame whose successor is due as well comes too late: it is dropped, and counted.
void Playback::show_due(std::int64_t now_ns) {
  if (!pacer_.running()) pacer_.start_at(viewer_.facts.time.pts_ns, now_ns);
  if (!fetch_next()) return;
  Feed& feed = *this->feed();
  const bool live = feed.info().live;  // the newest frame is due whenever it comes
  if (live) pacer_.start_at(next_.view().pts_ns, now_ns);
  if (pacer_.due_ns(next_.view().pts_ns) > now_ns + kEarly_ns) return;
  Frame frame = std::exchange(next_, Frame{});
  while (feed.poll(next_) == PollStatus::kFrame && (live || pacer_.due_ns(next_.view().pts_ns) <= now_ns)) {
    feed.recycle(std::exchange(frame, std::exchange(next_, Frame{})));
    ++viewer_.facts.pace.dropped_late;
  }
  pacer_.shown(frame.view().pts_ns, now_ns);
  show(std::move(frame), false);
}

void Playback::show_until(std::int64_t pts_ns, const std::function<bool()>& stopped) {
  Feed& feed = *this->feed();
  const Frame* next = feed.peek();
  while (next != nullptr && next->view().pts_ns <= pts_ns && !stopped()) {
    Frame frame;
    feed.wait(frame);
    show(std::move(frame), false);
    next = feed.peek();
  }
  if (next == nullptr && !stopped()) note_end();
}

void Playback::seek(std::int64_t pts_ns) {
  if (!viewer_.facts.time.seekable) return say("this input can't be sought");
  next_ = Frame{};
  sought_pts_ns_ = pts_ns;
  jobs_.seek(*viewer_.feed(), FeedJobs::SeekKind::kFrom, pts_ns);
  wanted_ = wanted_sought_ = true;
  viewer_.facts.time.ended = false;
}

void Playback::step_by(int frames) {
  viewer_.settings.paused = was_paused_ = true;
  pacer_.stop();
  if (frames > 0) {
    if (!viewer_.facts.time.ended) wanted_ = true;
    wanted_sought_ = false;
    return;
  }
  if (!viewer_.facts.time.seekable) return say("this input can't be sought");
  next_ = Frame{};
  jobs_.seek(*viewer_.feed(), FeedJobs::SeekKind::kBefore, viewer_.facts.time.pts_ns);
  wanted_ = wanted_sought_ = true;
  viewer_.facts.time.ended = false;
}

void Playback::take(const ViewRequests& requests) {
  if (requests.reset_settings) {
    viewer_.free_gaze();
    viewer_.settings.pipeline = initial_;
  }
  if (requests.seek_pts_ns) seek(*requests.seek_pts_ns);
  if (requests.seek_by_s) {  // from where the seek before is still on its way to
    seek((jobs_.seeking() ? sought_pts_ns_ : viewer_.facts.time.pts_ns) + std::llround(*requests.seek_by_s * 1e9));
  }
  if (requests.step != 0) step_by(requests.step);
}

void Playback::apply_settings(std::int64_t now_ns) {
  if (viewer_.settings.speed != pacer_.speed()) pacer_.set_speed(viewer_.settings.speed, now_ns);
}

void Playback::expire_message(std::int64_t now_ns) {
  std::string& message = viewer_.facts.message;
  if (message != message_) {
    message_ = message;
    message_at_ns_ = now_ns;
    redraw_ = true;
  } else if (!message.empty() && now_ns - message_at_ns_ > kMessage_ns) {
    message.clear();
    message_.clear();
    redraw_ = true;
  }
}

void Playback::refresh_facts() {
  ViewFacts& facts = viewer_.facts;
  if (const LiveMeter* live = viewer_.live()) {
    facts.pace.age_p50_ms = live->since_capture().percentile_ms(50);
    facts.pace.age_p95_ms = live->since_capture().percentile_ms(95);
    facts.pace.age_p99_ms = live->since_capture().percentile_ms(99);
    facts.pace.gaps = live->gaps();
  }
  const Feed* feed = this->feed();
  if (feed == nullptr) return;
  facts.pace.queue_depth = feed->depth() + (next_ ? 1 : 0);
  facts.pace.queue_capacity = feed->capacity();
  facts.pace.dropped_queue = feed->queue_counters().dropped_stale;
  facts.time.duration_ns = feed->duration_ns();
}

double Playback::wait_s(std::int64_t now_ns) {
  const double idle = viewer_.facts.message.empty() ? -1 : kIdle_s;
  if (feed() == nullptr) return idle;  // a job calls `wake` when it is done
  if (starved_) return kStarved_s;
  if (wanted_) return 0;
  if (playing() && pacer_.running() && next_) {
    const std::int64_t left_ns = pacer_.due_ns(next_.view().pts_ns) - now_ns - kEarly_ns / 2;
    return std::max(static_cast<double>(left_ns) * 1e-9, 0.0);
  }
  return playing() ? 0 : idle;
}

}  // namespace saccade::ui
