#include "pipeline/run/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "pipeline/clock.h"
#include "pipeline/error.h"

namespace saccade {
namespace {

constexpr int kLiveThreshold = 8;
constexpr std::size_t kGapsListed = 1000;
constexpr std::size_t kMostInUse = 2;  // frames that a device reads; a decoder's surfaces are few

FeedConfig feed_config(const SessionConfig& config) {
  FeedConfig feed{config.source, config.policy, config.frames_ahead, config.trace, config.on_ready};
  feed.source.log = config.log;
  return feed;
}

}  // namespace

Session::Session(const SessionConfig& config) : Session(config, std::make_unique<Feed>(feed_config(config))) {}

Session::Session(const SessionConfig& config, std::unique_ptr<FrameSource> source)
    : Session(config, std::make_unique<Feed>(std::move(source), feed_config(config))) {}

Session::Session(const SessionConfig& config, std::unique_ptr<Feed> feed) : config_(config), feed_(std::move(feed)) {
  if (config_.trace != nullptr) config_.trace->name_thread(kPipelineTraceThread, "pipeline");
  make_pipeline();
}

Session::~Session() = default;

PipelineConfig Session::in_force() const {
  PipelineConfig config = config_.pipeline;
  config.log = config_.log;
  if (info().live) {
    if (!config_.threshold_given && !info().sender_waits && info().has_noise) config.diff.threshold = kLiveThreshold;
    config.wait_for_patches = true;  // a live frame's age is taken when its patches are there
  }
  return config;
}

void Session::make_pipeline() {
  pipeline_.emplace(in_force());  // waits for the old one's device
  in_use_.clear();
  pipeline_->set_gl_context(config_.gl);
  pipeline_->set_trace(config_.trace);
  if (fixation_source_) pipeline_->set_fixation_source(fixation_source_);
  prepared_ = false;
}

void Session::set_fixation_source(FixationSource source) {
  fixation_source_ = std::move(source);
  pipeline_->set_fixation_source(fixation_source_);
}

void Session::throw_no_frame() const {
  const std::string& uri = info().uri;
  if (end_status() == SessionStatus::kInterrupted) {
    throw Error(ErrorKind::kInterrupted, fmt::format("{}: interrupted before the first frame", uri));
  }
  feed_->throw_no_frame();
}

// The first frame decides sizes; none is bad input, whatever the decoder said on the way.
void Session::start() {
  if (prepared_) return;
  const std::int64_t begin_ns = steady_now_ns();
  const Frame* first = feed_->peek();
  if (first == nullptr) throw_no_frame();
  if (!std::exchange(peeked_, true)) note_wait(begin_ns, *first);
  prepare(first->view());
}

void Session::start(const FrameView& like) { prepare(like); }

void Session::prepare(const FrameView& view) {
  if (prepared_) return;
  try {
    pipeline_->prepare(view);
  } catch (const InputError& error) {
    throw_fault(error.fault(), info().uri);
  } catch (const UsageError& error) {
    throw_fault(error.fault(), info().uri);
  }
  prepared_ = true;
  note_recording();
}

// What became of a gaze file.
void Session::note_recording() const {
  const RecordingFacts* facts = pipeline_->recording();
  if (facts == nullptr || facts->path.empty()) return;
  config_.log.info("{}: {}", facts->path, summary(*facts));
  for (const std::string& warning : facts->warnings) config_.log.warn("{}", warning);
  if (facts->counted_from_first) return;
  if (facts->ends_s < 0) {
    config_.log.warn("{}: no row lies in the video: times end at {} s, before its first frame; they count from it",
                     facts->path, facts->ends_s);
  }
  const SourceConfig& source = config_.source;
  std::optional<double> length_s = info().duration_s;
  if (length_s && source.loops != 0) length_s = std::nullopt;
  if (length_s) length_s = *length_s - source.start_s;
  if (source.duration_s && source.loops == 0)
    length_s = std::min(length_s.value_or(*source.duration_s), *source.duration_s);
  if (length_s && facts->begins_s >= *length_s) {
    config_.log.warn(
        "{}: no row lies in the video: times begin at {} s and count from the first frame; what is shown "
        "lasts {:.3f} s",
        facts->path, facts->begins_s, *length_s);
  }
}

SessionStep Session::next(Emission& out, const PatchTarget* into) { return take(out, into, true); }
SessionStep Session::poll(Emission& out) { return take(out, nullptr, false); }

void Session::recycle_read_frames(std::size_t most) {
  while (!in_use_.empty()) {
    FrameInUse& oldest = in_use_.front();
    if (in_use_.size() > most) {
      oldest.reading->wait();
    } else if (!oldest.reading->done()) {
      return;
    }
    feed_->recycle(std::move(oldest.frame));
    in_use_.pop_front();
  }
}

SessionStep Session::take(Emission& out, const PatchTarget* into, bool may_wait) {
  if (into != nullptr && prepared_) pipeline_->check_target(*into);
  Frame frame;
  const std::int64_t begin_ns = steady_now_ns();
  const PollStatus polled = may_wait ? feed_->wait(frame) : feed_->poll(frame);
  SessionStep step;
  step.status = SessionStatus::kLater;
  if (polled == PollStatus::kLater) return step;
  if (polled == PollStatus::kEnd) {
    if (!any_frame_) throw_no_frame();
    step.status = end_status();
    return step;
  }
  if (!std::exchange(peeked_, false)) note_wait(begin_ns, frame);
  step = this->step(frame, out, into);
  if (step.result.reading != nullptr) {
    in_use_.push_back({std::move(frame), step.result.reading});
    recycle_read_frames(kMostInUse);
  } else {
    feed_->recycle(std::move(frame));
  }
  return step;
}

SessionStatus Session::end_status() const {
  const auto& stop = config_.source.stop;
  if (interrupted_ || feed_->interrupted() || (stop && stop->load())) return SessionStatus::kInterrupted;
  return feed_->failed() ? SessionStatus::kFailed : SessionStatus::kEnd;
}

void Session::note_frame(const FrameView& view) {
  prepare(view);
  if (!std::exchange(any_frame_, true)) first_pts_ns_ = view.pts_ns;
}

SessionStep Session::push(const FrameView& frame, bool to_device) {
  note_frame(frame);
  last_pts_ns_ = frame.pts_ns;
  SessionStep step;
  step.frame = frame.sequence;
  step.pts_ns = frame.pts_ns;
  step.result = pipeline_->advance(frame, to_device);
  step.status = step.result.emitted ? SessionStatus::kEmission : SessionStatus::kFrame;
  return step;
}

SessionStep Session::step(const Frame& frame, Emission& out, const PatchTarget* into) {
  const FrameView& view = frame.view();
  const FrameOrigin& origin = frame.origin();
  const bool first = !any_frame_;
  note_frame(view);
  if (first) last_pts_ns_ = view.pts_ns;
  SessionStep step;
  step.frame = view.sequence;
  step.pts_ns = view.pts_ns;
  step.origin = origin;
  step.after_gap = live_.begins_after_gap(origin);
  if (step.after_gap) note_gap(view);
  last_pts_ns_ = view.pts_ns;
  pipeline_->set_cues(frame.cues());
  step.result = pipeline_->step(view, out, into);
  step.status = step.result.emitted ? SessionStatus::kEmission : SessionStatus::kFrame;
  const std::int64_t age_ns = live_.note_done(origin);
  if (step.result.emitted && age_ns != 0) {
    out.captured_unix_ns = origin.captured_ns + unix_minus_steady_ns();
    out.age_ns = age_ns;
    out.gaps = origin.gaps;
  }
  return step;
}

void Session::note_gap(const FrameView& view) {
  pipeline_->reset();
  if (gaps_.size() >= kGapsListed) return;
  gaps_.push_back({pipeline_->counters().emissions, view.sequence, view.pts_ns,
                   static_cast<double>(view.pts_ns - last_pts_ns_) * 1e-9});
}

void Session::note_wait(std::int64_t begin_ns, const Frame& frame) {
  const std::int64_t end_ns = steady_now_ns();
  wait_times_.record(end_ns - begin_ns);
  if (config_.trace == nullptr) return;
  config_.trace->complete(name(Stage::kWait), kPipelineTraceThread, begin_ns, end_ns, frame.view().sequence);
}

Redone Session::configure(const PipelineConfig& config) {
  const PipelineConfig before = std::exchange(config_.pipeline, config);
  const bool threshold_given = std::exchange(config_.threshold_given, true);
  try {
    return pipeline_->configure(in_force());
  } catch (...) {
    config_.pipeline = before;
    config_.threshold_given = threshold_given;
    throw;
  }
}

void Session::rebuild(const PipelineConfig& config) {
  config_.pipeline = config;
  config_.threshold_given = true;
  make_pipeline();
}

bool Session::seek(std::int64_t pts_ns) {
  peeked_ = false;
  if (!feed_->seek(pts_ns)) return false;
  reset();
  return true;
}

void Session::reopen(std::unique_ptr<Feed> feed, const PipelineConfig& config) {
  recycle_read_frames(0);
  {
    const std::lock_guard lock(mutex_);
    std::swap(feed_, feed);
    if (interrupted_) feed_->interrupt();
  }
  feed.reset();
  rebuild(config);
  live_ = LiveMeter{};
  gaps_.clear();
  wait_times_ = DurationHistogram{};
  peeked_ = any_frame_ = false;
  first_pts_ns_ = last_pts_ns_ = 0;
}

void Session::interrupt() {
  interrupted_ = true;
  const std::lock_guard lock(mutex_);
  feed_->interrupt();
}

SessionFacts Session::facts() const {
  SessionFacts facts;
  facts.info = info();
  facts.policy = feed_->policy();
  facts.queue_capacity = feed_->capacity();
  facts.queue = feed_->queue_counters();
  facts.stages = {Stage::kDecode, Stage::kWait};
  facts.time(Stage::kWait) = wait_times_;
  if (feed_->finished()) {
    facts.source = feed_->counters();
    facts.end = feed_->end();
    facts.time(Stage::kDecode) = feed_->decode_times();
    if (feed_->failed() && !interrupted_) facts.fault = feed_->fault();
  }
  facts.backend = pipeline_->config().backend;
  facts.pipeline = pipeline_->counters();
  if (prepared_) {
    facts.patches = pipeline_->lattice().patch_count();
    for (const Stage stage : pipeline_->stages()) {
      facts.stages.push_back(stage);
      facts.time(stage) = pipeline_->stage(stage);
    }
  }
  for (std::size_t work = 0; work < facts.device.size(); ++work) {
    facts.device[work] = pipeline_->device_times(static_cast<DeviceTime::Work>(work));
  }
  facts.live = live_;
  facts.gaps = gaps_;
  facts.media_s = static_cast<double>(media_ns()) * 1e-9;
  return facts;
}

}  // namespace saccade
