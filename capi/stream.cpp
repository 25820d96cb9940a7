#include "capi/stream.h"

#include <chrono>
#include <utility>

#include "capi/error.h"
#include "capi/options.h"
#include "capi/structs.h"

using namespace saccade;
using namespace saccade::capi;
using Clock = std::chrono::steady_clock;

saccade_stream::saccade_stream(const StreamOptions& settings, const Log& log) : settings_(settings), log_(log) {
  resolve(settings_);
}

saccade_stream::~saccade_stream() { close(); }

void saccade_stream::close() {
  std::unique_ptr<Session> old;
  {
    const std::lock_guard lock(mutex_);
    old = std::move(session_);
  }
  if (pool_) pool_->close();
  pool_.reset();
  texts_ = {};
}

void saccade_stream::throw_if_interrupted() const {
  if (interrupted_) throw Error(ErrorKind::kInterrupted, "interrupted");
}

void saccade_stream::open(const char* uri) {
  close();
  SessionConfig config = session_config(settings_, uri);
  config.source.stop = std::make_shared<std::atomic<bool>>(false);
  {
    const std::lock_guard lock(mutex_);
    stop_ = config.source.stop;
  }
  throw_if_interrupted();  // one that comes later finds the token
  // saccade_emission_get() waits for them.
  config.pipeline.wait_for_patches = false;
  config.log = log_;
  auto session = std::make_unique<Session>(config);
  {
    const std::lock_guard lock(mutex_);
    session_ = std::move(session);
  }
  try {
    throw_if_interrupted();  // it may have come before the session could be seen
    session_->start();
  } catch (...) {
    close();
    throw;
  }
  pool_ = std::make_shared<EmissionPool>();
  for (const std::string& note : session_->info().notes) texts_.notes.push_back(note.c_str());
  texts_.lattice = session_->pipeline().lattice().describe();
}

void saccade_stream::interrupt() {
  interrupted_ = true;
  const std::lock_guard lock(mutex_);
  if (stop_) *stop_ = true;
  if (session_) session_->interrupt();
}

Session& saccade_stream::session(const char* function) {
  require(session_ != nullptr, function, "no source is open");
  return *session_;
}

EmissionPool::Handle saccade_stream::next(std::int64_t timeout_ms, saccade_status& status) {
  Session& session = this->session("saccade_stream_next");
  throw_if_interrupted();
  EmissionPool::Handle emission = pool_->take();
  if (!emission) {
    emission = std::make_unique<saccade_emission>();
    emission->content = session.make_emission();
  }
  const auto give_back = [&](saccade_status why) {
    pool_->give(std::move(emission));
    status = why;
    return nullptr;
  };
  constexpr std::int64_t kLongest_ms = 1'000'000'000'000;  // 31 years; in nanoseconds it must not overflow
  const bool limited = timeout_ms >= 0 && timeout_ms < kLongest_ms;
  const auto deadline = Clock::now() + std::chrono::milliseconds(limited ? timeout_ms : 0);
  SessionStep step;
  do {
    if (limited && !session.feed().ready_within(deadline - Clock::now())) return give_back(SACCADE_LATER);
    step = session.next(emission->content);
  } while (step.status == SessionStatus::kFrame && (!limited || Clock::now() < deadline));

  switch (step.status) {
    case SessionStatus::kEmission:
      break;
    case SessionStatus::kFrame:
    case SessionStatus::kLater:
      return give_back(SACCADE_LATER);
    case SessionStatus::kEnd:
      return give_back(SACCADE_END);
    case SessionStatus::kFailed:
      throw Error(session.feed().fault());
    case SessionStatus::kInterrupted:
      throw_if_interrupted();
      return give_back(SACCADE_END);
  }
  note_geometry(*emission, session.info().width_px, session.info().height_px);
  emission->pool = pool_;
  status = SACCADE_OK;
  return emission;
}

saccade_status saccade_stream_new(const saccade_options* options, saccade_stream** out) {
  return guarded([&] {
    require(out != nullptr, "saccade_stream_new", "out is NULL");
    *out = nullptr;
    *out = options != nullptr ? new saccade_stream(options->settings, options->log)
                              : new saccade_stream(StreamOptions{}, Log{});
    return SACCADE_OK;
  });
}

saccade_status saccade_stream_open(saccade_stream* stream, const char* uri) {
  return guarded([&] {
    require(stream != nullptr, "saccade_stream_open", "stream is NULL");
    require(uri != nullptr && *uri != '\0', "saccade_stream_open", "uri is NULL or empty");
    stream->open(uri);
    return SACCADE_OK;
  });
}

saccade_status saccade_stream_interrupt(saccade_stream* stream) {
  return guarded([&] {
    require(stream != nullptr, "saccade_stream_interrupt", "stream is NULL");
    stream->interrupt();
    return SACCADE_OK;
  });
}

void saccade_stream_free(saccade_stream* stream) {
  static_cast<void>(guarded([&] {
    delete stream;
    return SACCADE_OK;
  }));
}

saccade_status saccade_stream_next(saccade_stream* stream, std::int64_t timeout_ms, saccade_emission** out) {
  return guarded([&] {
    require(out != nullptr, "saccade_stream_next", "out is NULL");
    *out = nullptr;
    require(stream != nullptr, "saccade_stream_next", "stream is NULL");
    saccade_status status = SACCADE_ERROR_INTERNAL;
    *out = stream->next(timeout_ms, status).release();
    return status;
  });
}

saccade_status saccade_stream_look(saccade_stream* stream, float u, float v) {
  return guarded([&] {
    require(stream != nullptr, "saccade_stream_look", "stream is NULL");
    stream->session("saccade_stream_look").look(u, v);
    return SACCADE_OK;
  });
}
