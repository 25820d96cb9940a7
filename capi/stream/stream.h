// What stands behind a saccade_stream.
#pragma once

#include <saccade/saccade.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "capi/call.h"
#include "capi/stream/emission.h"
#include "pipeline/backend/caller_context.h"
#include "pipeline/options/idle.h"
#include "pipeline/options/resolve.h"
#include "pipeline/run/session.h"
#include "pipeline/source/push/pushed_frames.h"
#include "pipeline/source/push/pushed_source.h"

// One thread calls, but for interrupt(). A session is there while a source is open.
struct saccade_stream {
 public:
  saccade_stream(const saccade::StreamOptions& settings, const saccade::GivenOptions& given, const saccade::Log& log);
  ~saccade_stream();
  saccade_stream(const saccade_stream&) = delete;
  saccade_stream& operator=(const saccade_stream&) = delete;

  void open(const char* uri);  // throws Error
  const saccade::StreamInfo& probe(const char* uri);
  void open_frames(const saccade::PushedFormat& format, saccade::MemorySpace first);
  bool push(const saccade::PushedPicture& picture);  // whether patches are due
  void push_end();
  void interrupt();  // any thread

  // The next emission, or null: `status` says why. Throws Error where the stream broke, and as Session::next().
  saccade::capi::EmissionPool::Handle next(std::int64_t timeout_ms, saccade_status& status);
  // The same into the caller's memory; what is known of the emission besides is in last().
  saccade_status next_into(std::int64_t timeout_ms, const saccade::PatchTarget& into);
  struct Last {
    saccade::Emission emission;
    std::vector<float> geometry;  // N x 4
  };
  const Last& last() const { return last_; }

  void set_fixation(saccade::FixationSource source);
  void set_scanpath(std::shared_ptr<const saccade::RecordedScanpath> scanpath) { scanpath_ = std::move(scanpath); }

  saccade::Session& session(const char* function);  // throws UsageError when no source is open
  void refuse_inside(const char* function) const;   // throws UsageError: a fixation function is being asked
  const saccade::StreamOptions& settings() const { return settings_; }
  const saccade::capi::HandleMark& mark() const { return mark_; }
  bool makes_gl_contexts() const;

  // Texts that pointers in structs refer to; made when a source is opened.
  struct Texts {
    std::vector<const char*> notes;
    std::string lattice;
    std::string end_reason;
    void take_notes(const saccade::StreamInfo& info);
  };
  Texts& texts() { return texts_; }

 private:
  void close();
  void throw_if_interrupted() const;
  saccade::SessionConfig begin_opening(const char* uri);
  template <typename Start>
  void open_session(std::unique_ptr<saccade::Session> session, Start&& start);
  saccade_status advance(std::int64_t timeout_ms, saccade::Emission& out, const saccade::PatchTarget* into);

  const saccade::capi::HandleMark mark_;
  saccade::StreamOptions settings_;
  const saccade::GivenOptions given_;  // of the settings: one that does nothing is refused
  saccade::Log log_;
  saccade::FixationSource fixation_;
  std::shared_ptr<const saccade::RecordedScanpath> scanpath_;
  bool inside_ = false;  // of a call that may ask a fixation function
  std::atomic<bool> interrupted_{false};
  std::shared_ptr<saccade::capi::EmissionPool> pool_;
  Last last_;
  std::mutex mutex_;                         // of these two's replacement against interrupt()
  std::shared_ptr<std::atomic<bool>> stop_;  // of the source: one that ends sets it, so each has its own
  std::unique_ptr<saccade::Session> session_;
  // Where the caller pushes frames: the session's source, which the session owns, and what it is fed by.
  struct Pushing {
    saccade::PushedSource* source = nullptr;
    saccade::PushedFrames frames;
    bool to_device = false;  // where emissions go, as far as is known
    bool ended = false;
  };
  std::optional<Pushing> pushing_;
  saccade::StreamInfo probed_;
  Texts texts_;
};

namespace saccade::capi {

// Runs the body of a call with a stream that reads it.
template <typename Body>
saccade_status with_stream(saccade_stream* stream, const char* function, Body&& body) noexcept {
  return guarded([&]() -> saccade_status {
    require(stream != nullptr, function, "stream is NULL");
    stream->mark().check(function);
    const CallerContext keep(stream->makes_gl_contexts());
    return body(*stream);
  });
}

// Likewise of a call that changes the stream: from inside of a fixation function, whose caller still uses what would
// change, it is refused.
template <typename Body>
saccade_status change_stream(saccade_stream* stream, const char* function, Body&& body) noexcept {
  return with_stream(stream, function, [&](saccade_stream& changed) -> saccade_status {
    changed.refuse_inside(function);
    return body(changed);
  });
}

}  // namespace saccade::capi
