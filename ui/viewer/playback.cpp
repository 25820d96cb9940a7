#include "ui/viewer/playback.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "pipeline/error.h"
#include "pipeline/secrets.h"

namespace saccade::ui {
namespace {

constexpr std::int64_t kEarly_ns = 1'000'000;  // a frame this near its time is shown
constexpr double kStarved_s = 0.002;           // how soon to look again when the decoder has nothing
constexpr double kSilent_s = 0.01;             // likewise, when it has had nothing for kSilent_ns
constexpr double kDrain_s = 0.05;              // how often a live source's frames are dropped while nobody looks
constexpr std::int64_t kSilent_ns = 100'000'000;
constexpr double kIdle_s = 0.5;                      // while a message is to go away, or a connection may be lost
constexpr std::int64_t kMessage_ns = 4'000'000'000;  // how long one stays
constexpr std::int64_t kNote_ns = 1'200'000'000;
constexpr std::int64_t kPatience_ns = 500'000'000;  // a seek, or a source, that takes longer is spoken of
constexpr std::int64_t kStall_ns = 250'000'000;     // how often the pace is drawn while no frame comes

// Why the stream ended before its time; empty: it did not.
std::string why_broken(const Feed& feed) {
  if (!feed.fault().what.empty()) return one_line(feed.fault());
  if (!feed.finished()) return {};
  const StreamInfo& info = feed.info();
  if (const StreamEnd end = feed.end(); end.broke) {
    return fmt::format("{}: {}{}", info.uri, info.live ? "lost: " : "", end.reason.empty() ? "broken" : end.reason);
  }
  return feed.counters().truncated ? fmt::format("{}: it is cut short", info.uri) : std::string();
}

}  // namespace

Playback::Playback(Viewer& viewer, const PlaybackConfig& config, std::function<void()> wake)
    : viewer_(viewer),
      source_(config.source),
      clock_ns_(config.clock_ns),
      jobs_(config.queue_policy, config.open, std::move(wake)) {}

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
    if (OpenedFeed opened = jobs_.take_opened(); opened.feed) play(std::move(opened));
  } catch (const Error& error) {
    if (viewer_.facts.stream == nullptr) throw;
    say(one_line(error.fault()));
  }
  if (const auto sought = jobs_.take_sought(); sought && !*sought) say("this input could not be sought");
}

void Playback::play(OpenedFeed opened) {
  replaced_ = viewer_.facts.stream != nullptr;
  next_ = Frame{};  // it belongs to the old feed
  steps_ = 0;
  sought_pts_ns_.reset();
  jobs_.give_up_seeking();
  viewer_.attach(std::move(opened));
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
  if (sought) sought_pts_ns_.reset();
  viewer_.facts.time.ended = false;
}

// The decoder's next frame in `next_`. False: none is ready, or there are no more.
bool Playback::fetch_next() {
  if (next_) return true;
  if (feed() == nullptr) return false;
  const PollStatus status = feed()->poll(next_);
  starved_ = status == PollStatus::kLater;
  if (!starved_) starved_since_ns_ = 0;
  if (status == PollStatus::kEnd) reach_end();
  return status == PollStatus::kFrame;
}

void Playback::note_damage(const SourceCounters& counters) {
  viewer_.facts.pace.frames_corrupt = counters.frames_corrupt;
  viewer_.facts.damage = counters.damage();
}

void Playback::note_end() {
  const Feed& feed = *this->feed();
  note_damage(feed.counters());
  const std::string why = why_broken(feed);
  if (!why.empty() && viewer_.facts.error.empty()) {
    viewer_.facts.error = why;
    source_.log.warn("{}", why);
  }
  wanted_ = false;
  steps_ = 0;
  sought_pts_ns_.reset();
  if (!viewer_.facts.time.ended) redraw_ = true;
  viewer_.facts.time.ended = true;
  pacer_.stop();
  viewer_.interrupt_pace();
}

void Playback::reach_end() {
  const Feed& feed = *this->feed();
  const bool whole = feed.fault().what.empty() && !(feed.finished() && feed.end().broke);
  const bool from_start = viewer_.settings.loop && whole && feed.seekable() && viewer_.has_frame();
  note_end();
  if (from_start) seek(feed.start_pts_ns());
}

void Playback::begin_again() {
  viewer_.settings.paused = was_paused_ = false;
  seek(viewer_.facts.time.start_pts_ns);
}

// Playing goes on or pauses. At the end either begins again, and so does a loop that is asked for there.
void Playback::follow_settings() {
  const bool loop_wanted = viewer_.settings.loop && !was_loop_;
  was_loop_ = viewer_.settings.loop;
  const bool ended = viewer_.facts.time.ended;
  if (viewer_.settings.paused != was_paused_) {
    was_paused_ = viewer_.settings.paused;
    steps_ = 0;
    pacer_.stop();
    viewer_.interrupt_pace();
    if (ended) begin_again();
  } else if (loop_wanted && ended && !was_paused_ && viewer_.facts.error.empty()) {
    begin_again();
  }
}

bool Playback::advance() {
  shown_ = starved_ = false;
  finish_jobs();
  follow_settings();
  if (steps_ != 0 && !wanted_ && !jobs_.seeking()) step_once();
  try {
    if (wanted_) {
      show_wanted();
    } else if (playing()) {
      show_due();
    }
  } catch (const Error& error) {  // a frame that can't be shown, as one larger than the largest texture
    if (viewer_.facts.step.counters.frames == 0 && !replaced_) throw;
    viewer_.facts.error = one_line(error.fault());
    viewer_.facts.time.ended = true;
    wanted_ = false;
    say(viewer_.facts.error);
  }
  if (!wanted_ && jobs_.seek_next()) {
    wanted_ = wanted_sought_ = true;
    viewer_.facts.time.ended = false;
  }
  note_stall();
  return shown_;
}

// What is waited for, and a pace that falls while nothing comes.
void Playback::note_stall() {
  const std::int64_t now_ns = clock_ns_();
  if (starved_ && starved_since_ns_ == 0) starved_since_ns_ = now_ns;
  if (!jobs_.seeking()) seeking_since_ns_ = now_ns;
  std::string state = waited_for(now_ns);
  redraw_ |= state != viewer_.facts.state;
  viewer_.facts.state = std::move(state);
  if (!starved_ || viewer_.facts.pace.fps_shown <= 0 || now_ns - stall_drawn_ns_ < kStall_ns) return;
  stall_drawn_ns_ = now_ns;
  redraw_ |= now_ns - starved_since_ns_ > kStall_ns;
}

std::string Playback::waited_for(std::int64_t now_ns) {
  if (jobs_.opening()) return fmt::format("opening {} ...", masked_uri(source_.uri));
  if (viewer_.feed() == nullptr || viewer_.facts.time.ended) return {};
  if (jobs_.seeking()) return now_ns - seeking_since_ns_ > kPatience_ns ? "seeking ..." : "";
  if (const LinkState link = viewer_.feed()->link(); link.lost) {
    return fmt::format("lost, try {} of {} ({})", link.tries, link.most_tries, link.reason);
  }
  const bool waits = starved_ && now_ns - starved_since_ns_ > 2 * kPatience_ns;
  return waits ? fmt::format("waiting for {} ...", viewer_.feed()->info().live ? "the stream" : "the input") : "";
}

void Playback::show_wanted() {
  if (!fetch_next()) return;
  wanted_ = false;
  show(std::exchange(next_, Frame{}), wanted_sought_);
  pacer_.start_at(viewer_.facts.time.pts_ns, clock_ns_());
}

// Shows what is due. A frame whose successor is due as well comes too late: it is dropped, and counted.
void Playback::show_due() {
  if (held_) {  // a live source
    while (fetch_next()) viewer_.drop(std::exchange(next_, Frame{}));
    return;
  }
  if (!pacer_.running()) pacer_.start_at(viewer_.facts.time.pts_ns, clock_ns_());
  if (!fetch_next()) return;
  const std::int64_t now_ns = clock_ns_();
  Feed& feed = *this->feed();
  const bool live = feed.info().live;  // the newest frame is due whenever it comes
  if (live) pacer_.start_at(next_.view().pts_ns, now_ns);
  if (pacer_.due_ns(next_.view().pts_ns) > now_ns + kEarly_ns) return;
  Frame frame = std::exchange(next_, Frame{});
  while (feed.poll(next_) == PollStatus::kFrame && (live || pacer_.due_ns(next_.view().pts_ns) <= now_ns)) {
    viewer_.drop(std::exchange(frame, std::exchange(next_, Frame{})));
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
  steps_ = 0;
  viewer_.interrupt_pace();
  sought_pts_ns_ = pts_ns;
  jobs_.seek(*viewer_.feed(), FeedJobs::SeekKind::kFrom, pts_ns);
  wanted_ = wanted_sought_ = true;
  viewer_.facts.time.ended = false;
}

// One at a time, each shown: keys typed fast come several before a frame is there.
void Playback::step_by(int frames) {
  viewer_.settings.paused = was_paused_ = true;
  pacer_.stop();
  viewer_.interrupt_pace();
  if (frames < 0 && !viewer_.facts.time.seekable) return say("this input can't be sought");
  steps_ += frames;
}

void Playback::step_once() {
  if (steps_ > 0) {
    --steps_;
    if (viewer_.facts.time.ended) return;
    wanted_ = true;
    wanted_sought_ = false;
    return;
  }
  ++steps_;
  next_ = Frame{};
  jobs_.seek(*viewer_.feed(), FeedJobs::SeekKind::kBefore, viewer_.facts.time.pts_ns);
  wanted_ = wanted_sought_ = true;
  viewer_.facts.time.ended = false;
}

void Playback::hold(bool on) {
  if (std::exchange(held_, on) == on) return;
  pacer_.stop();
  viewer_.interrupt_pace();
}

void Playback::take(const ViewRequests& requests) {
  if (requests.reset_settings) viewer_.reset_settings();
  if (requests.scrubbing) {
    scrubbing_ = *requests.scrubbing;
    pacer_.stop();
  }
  if (requests.seek_pts_ns) seek(*requests.seek_pts_ns);
  if (requests.seek_by_s) {  // from where the seek before is still on its way to
    seek(sought_pts_ns_.value_or(viewer_.facts.time.pts_ns) + std::llround(*requests.seek_by_s * 1e9));
  }
  if (requests.step != 0) step_by(requests.step);
}

void Playback::apply_settings() {
  if (viewer_.settings.speed != pacer_.speed()) pacer_.set_speed(viewer_.settings.speed, clock_ns_());
}

void Playback::expire_texts() {
  const std::int64_t now_ns = clock_ns_();
  ViewFacts& facts = viewer_.facts;
  if (facts.message != message_) {
    message_ = facts.message;
    message_at_ns_ = now_ns;
    redraw_ = true;
  } else if (!message_.empty() && now_ns - message_at_ns_ > kMessage_ns) {
    facts.message.clear();
    message_.clear();
    redraw_ = true;
  }
  if (facts.notes != notes_) {
    notes_ = facts.notes;
    note_at_ns_ = now_ns;
    redraw_ = true;
  } else if (!facts.note.empty() && now_ns - note_at_ns_ > kNote_ns) {
    facts.note.clear();
    redraw_ = true;
  }
}

void Playback::refresh_facts() {
  ViewFacts& facts = viewer_.facts;
  viewer_.refresh_times(clock_ns_());
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

void Playback::finish() {
  refresh_facts();
  jobs_.give_up_seeking();
  if (viewer_.feed() == nullptr) return;
  viewer_.feed()->stop();
  note_damage(viewer_.feed()->counters());
}

double Playback::wait_s() {
  const std::int64_t now_ns = clock_ns_();
  const bool may_be_lost = viewer_.facts.stream != nullptr && viewer_.facts.stream->live;
  const bool texts = !viewer_.facts.message.empty() || !viewer_.facts.note.empty();
  const double idle = !texts && !may_be_lost && !jobs_.seeking() ? -1 : kIdle_s;
  if (feed() == nullptr) return idle;  // a job calls `wake` when it is done
  if (held_ && !wanted_) return is_live() ? kDrain_s : idle;
  if (starved_) return now_ns - starved_since_ns_ < kSilent_ns ? kStarved_s : kSilent_s;
  if (wanted_ || steps_ != 0) return 0;
  if (playing() && pacer_.running() && next_) {
    const std::int64_t left_ns = pacer_.due_ns(next_.view().pts_ns) - now_ns - kEarly_ns / 2;
    return std::max(static_cast<double>(left_ns) * 1e-9, 0.0);
  }
  return playing() ? 0 : idle;
}

}  // namespace saccade::ui
