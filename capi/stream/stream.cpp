#include "capi/stream/stream.h"

#include <chrono>
#include <utility>

#include "capi/error.h"
#include "capi/options.h"
#include "capi/structs.h"
#include "pipeline/backend/backend.h"
#include "pipeline/source/open.h"

using namespace saccade;
using namespace saccade::capi;

namespace {

// While one lives, a call that may ask a fixation function is under way.
class Inside {
 public:
  explicit Inside(bool& inside) : inside_(inside) { inside_ = true; }
  ~Inside() { inside_ = false; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  bool& inside_;
};

}  // namespace
using Clock = std::chrono::steady_clock;

saccade_stream::saccade_stream(const StreamOptions& settings, const GivenOptions& given, const Log& log)
    : mark_(handle_counts().streams), settings_(settings), given_(given), log_(log) {
  check_options(settings_);
  check_given(settings_, given_);
  resolve(settings_);
}

saccade_stream::~saccade_stream() { close(); }

bool saccade_stream::makes_gl_contexts() const {
  return !suits_any_thread(settings_.pipeline.backend, settings_.pipeline.upload);
}

void saccade_stream::Texts::take_notes(const StreamInfo& info) {
  notes.clear();
  for (const std::string& note : info.notes) notes.push_back(note.c_str());
}

void saccade_stream::close() {
  std::unique_ptr<Session> old;
  {
    const std::lock_guard lock(mutex_);
    old = std::move(session_);
  }
  pushing_.reset();
  if (pool_) pool_->close();
  pool_.reset();
  texts_ = {};
}

void saccade_stream::throw_if_interrupted() const {
  if (interrupted_) throw Error(ErrorKind::kInterrupted, "interrupted");
}

SessionConfig saccade_stream::begin_opening(const char* uri) {
  close();
  StreamOptions options = settings_;
  if (scanpath_) {
    options.pipeline.scanpath.policy = FixationPolicy::kFile;
    options.pipeline.scanpath.recorded = scanpath_;
    settle_eye(options);
  }
  SessionConfig config = session_config(options, uri);
  config.source.stop = std::make_shared<std::atomic<bool>>(false);
  {
    const std::lock_guard lock(mutex_);
    stop_ = config.source.stop;
  }
  throw_if_interrupted();  // one that comes later finds the token
  config.log = log_;
  return config;
}

template <typename Start>
void saccade_stream::open_session(std::unique_ptr<Session> session, Start&& start) {
  if (fixation_) session->set_fixation_source(fixation_);
  {
    const std::lock_guard lock(mutex_);
    session_ = std::move(session);
  }
  try {
    throw_if_interrupted();  // it may have come before the session could be seen
    start(*session_);
  } catch (...) {
    close();
    throw;
  }
  pool_ = std::make_shared<EmissionPool>();
  texts_.take_notes(session_->info());
  texts_.lattice = session_->pipeline().lattice().describe();
}

void saccade_stream::open(const char* uri) {
  check_given_for(settings_, given_, uri);
  const SessionConfig config = begin_opening(uri);
  open_session(std::make_unique<Session>(config), [](Session& session) { session.start(); });
}

const StreamInfo& saccade_stream::probe(const char* uri) {
  const SessionConfig config = begin_opening(uri);
  SourceConfig source = config.source;
  source.log = config.log;
  probed_ = open_source(source)->info();
  texts_.take_notes(probed_);
  return probed_;
}

void saccade_stream::open_frames(const PushedFormat& format, MemorySpace first) {
  check_given_for_frames(settings_, given_);
  const SessionConfig config = begin_opening("");
  auto source = std::make_unique<PushedSource>(pushed_info(format));
  Pushing pushing{source.get(), PushedFrames(format), first == MemorySpace::kCuda, false};
  const FrameView like = pushing.frames.like(first, settings_.pipeline.device);
  open_session(std::make_unique<Session>(config, std::move(source)),
               [&like](Session& session) { session.start(like); });
  pushing_.emplace(std::move(pushing));
}

bool saccade_stream::push(const PushedPicture& picture) {
  constexpr const char* kFunction = "saccade_stream_push";
  Session& session = this->session(kFunction);
  throw_if_interrupted();
  require(pushing_.has_value(), kFunction, "the stream has a source; saccade_stream_open_frames() takes frames");
  require(!pushing_->ended, kFunction, "saccade_stream_push_end() was called; open the stream again");
  require(!session.pipeline().due(), kFunction,
          "the last frame's patches wait: take them by saccade_stream_next() or _next_into() first");
  if (picture.space == MemorySpace::kCuda) session.pipeline().check_device_frame(picture.device, picture.planes);
  const Inside inside(inside_);
  const FrameView frame = pushing_->frames.take(picture);
  pushing_->source->note_frame();
  return session.push(frame, pushing_->to_device).status == SessionStatus::kEmission;
}

void saccade_stream::push_end() {
  constexpr const char* kFunction = "saccade_stream_push_end";
  Session& session = this->session(kFunction);
  require(pushing_.has_value(), kFunction, "the stream has a source; saccade_stream_open_frames() takes frames");
  pushing_->ended = true;
  pushing_->source->finish();
  session.stop();
}

void saccade_stream::interrupt() {
  interrupted_ = true;
  const std::lock_guard lock(mutex_);
  if (stop_) *stop_ = true;
  if (session_) session_->interrupt();
}

void saccade_stream::set_fixation(FixationSource source) {
  fixation_ = std::move(source);
  if (session_) session_->set_fixation_source(fixation_);
}

Session& saccade_stream::session(const char* function) {
  require(session_ != nullptr, function, "no source is open");
  return *session_;
}

void saccade_stream::refuse_inside(const char* function) const {
  require(!inside_, function, "the stream is inside of a call, and its fixation function may not make this one");
}

// SACCADE_OK: `out` was filled.
saccade_status saccade_stream::advance(std::int64_t timeout_ms, Emission& out, const PatchTarget* into) {
  Session& session = *session_;
  throw_if_interrupted();
  const Inside inside(inside_);
  if (pushing_) {
    pushing_->to_device = into != nullptr && into->space == MemorySpace::kCuda;
    if (!session.pipeline().due()) return pushing_->ended ? SACCADE_END : SACCADE_LATER;
    session.emit(out, into);
    return SACCADE_OK;
  }
  constexpr std::int64_t kLongest_ms = 1'000'000'000'000;  // 31 years; in nanoseconds it must not overflow
  const bool limited = timeout_ms >= 0 && timeout_ms < kLongest_ms;
  const auto deadline = Clock::now() + std::chrono::milliseconds(limited ? timeout_ms : 0);
  SessionStep step;
  do {
    if (limited && !session.feed().ready_within(deadline - Clock::now())) return SACCADE_LATER;
    step = session.next(out, into);
  } while (step.status == SessionStatus::kFrame && (!limited || Clock::now() < deadline));

  switch (step.status) {
    case SessionStatus::kEmission:
      return SACCADE_OK;
    case SessionStatus::kFrame:
    case SessionStatus::kLater:
      return SACCADE_LATER;
    case SessionStatus::kFailed:
      throw Error(session.feed().fault());
    case SessionStatus::kInterrupted:
      throw_if_interrupted();
      break;
    case SessionStatus::kEnd:
      break;
  }
  return SACCADE_END;
}

EmissionPool::Handle saccade_stream::next(std::int64_t timeout_ms, saccade_status& status) {
  Session& session = this->session("saccade_stream_next");
  EmissionPool::Handle emission = pool_->take();
  if (!emission) {
    emission = std::make_unique<saccade_emission>();
    emission->content = session.make_emission();
  }
  status = advance(timeout_ms, emission->content, nullptr);
  if (status != SACCADE_OK) {
    pool_->give(std::move(emission));
    return nullptr;
  }
  note_geometry(*emission, session.info().width_px, session.info().height_px);
  emission->pool = pool_;
  emission->mark.emplace(handle_counts().emissions);
  return emission;
}

saccade_status saccade_stream::next_into(std::int64_t timeout_ms, const PatchTarget& into) {
  Session& session = this->session("saccade_stream_next_into");
  const saccade_status status = advance(timeout_ms, last_.emission, &into);
  if (status != SACCADE_OK) return status;
  last_.geometry.resize(last_.emission.plan.count() * 4);
  write_geometry(last_.emission.plan, session.info().width_px, session.info().height_px, last_.geometry);
  return status;
}

saccade_status saccade_stream_new(const saccade_options* options, saccade_stream** out) {
  return guarded([&] {
    require(out != nullptr, "saccade_stream_new", "out is NULL");
    *out = nullptr;
    const CallerContext keep(options != nullptr && !suits_any_thread(options->settings.backend));
    *out = options != nullptr ? new saccade_stream(options->settings, options->given, options->log)
                              : new saccade_stream(StreamOptions{}, {}, Log{});
    return SACCADE_OK;
  });
}

saccade_status saccade_stream_open(saccade_stream* stream, const char* uri) {
  return change_stream(stream, "saccade_stream_open", [&](saccade_stream& opened) {
    require(uri != nullptr && *uri != '\0', "saccade_stream_open", "uri is NULL or empty");
    opened.open(uri);
    return SACCADE_OK;
  });
}

saccade_status saccade_stream_interrupt(saccade_stream* stream) {
  return guarded([&] {
    require(stream != nullptr, "saccade_stream_interrupt", "stream is NULL");
    stream->mark().check("saccade_stream_interrupt");
    stream->interrupt();
    return SACCADE_OK;
  });
}

// In a child of the process that made it neither its threads nor its locks can be relied on: it is left as it is.
void saccade_stream_free(saccade_stream* stream) {
  if (stream == nullptr || !stream->mark().usable()) return;
  static_cast<void>(change_stream(stream, "saccade_stream_free", [](saccade_stream& freed) {
    delete &freed;
    return SACCADE_OK;
  }));
}

saccade_status saccade_stream_next(saccade_stream* stream, std::int64_t timeout_ms, saccade_emission** out) {
  if (out != nullptr) *out = nullptr;
  return change_stream(stream, "saccade_stream_next", [&](saccade_stream& source) {
    require(out != nullptr, "saccade_stream_next", "out is NULL");
    saccade_status status = SACCADE_ERROR_INTERNAL;
    *out = source.next(timeout_ms, status).release();
    return status;
  });
}
