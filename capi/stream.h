// What stands behind a saccade_stream.
#pragma once

#include <saccade/saccade.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "capi/emission.h"
#include "pipeline/options/resolve.h"
#include "pipeline/run/session.h"

// One thread calls, but for interrupt(). A session is there while a source is open.
struct saccade_stream {
 public:
  saccade_stream(const saccade::StreamOptions& settings, const saccade::Log& log);
  ~saccade_stream();
  saccade_stream(const saccade_stream&) = delete;
  saccade_stream& operator=(const saccade_stream&) = delete;

  void open(const char* uri);  // throws Error
  void interrupt();            // any thread

  // The next emission, or null: `status` says why. Throws Error where the stream broke, and as Session::next().
  saccade::capi::EmissionPool::Handle next(std::int64_t timeout_ms, saccade_status& status);

  saccade::Session& session(const char* function);  // throws UsageError when no source is open
  const saccade::StreamOptions& settings() const { return settings_; }

  // Texts that pointers in structs refer to; made when a source is opened.
  struct Texts {
    std::vector<const char*> notes;
    std::string lattice;
    std::string end_reason;
  };
  Texts& texts() { return texts_; }

 private:
  void close();
  void throw_if_interrupted() const;

  saccade::StreamOptions settings_;
  saccade::Log log_;
  std::atomic<bool> interrupted_{false};
  std::shared_ptr<saccade::capi::EmissionPool> pool_;
  std::mutex mutex_;                         // of these two's replacement against interrupt()
  std::shared_ptr<std::atomic<bool>> stop_;  // of the source: one that ends sets it, so each has its own
  std::unique_ptr<saccade::Session> session_;
  Texts texts_;
};
