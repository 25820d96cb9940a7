// A dump as one stream among many in this process.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/dump/dump_run.h"
#include "app/options/options.h"
#include "app/process/run_interrupt.h"
#include "pipeline/run/work/streams.h"

namespace saccade {

// What became of a job: an outcome, or what was thrown.
struct DumpEnd {
  std::optional<DumpOutcome> outcome;
  std::exception_ptr error;
};

struct DumpJob {
  Options options;  // resolved; after share_machine()
  std::string uri;
  std::string directory;
  std::function<void(std::int64_t frames)> on_frames;  // so many so far; after each frame, on its launcher's thread
  std::function<void(const DumpEnd&)> on_end;          // once; any thread
  KeptTextures* kept = nullptr;                        // of all jobs; outlives them
  std::function<void(bool)> on_writing = {};           // see WaitsForDisk; any thread
};

// How many streams of this backend run side by side, unless the user says it: on the CPU one a core, on a GPU enough
// for its decoders.
int default_jobs(Backend backend, int cores);

// How `jobs` streams share the threads and the device.
StreamsConfig streams_config(Backend backend, int jobs);
// FFmpeg's threads of each, and no progress of single inputs on a terminal.
void share_machine(Options& options, int jobs, int cores);

class DumpTask final : public StreamTask {
 public:
  DumpTask(DumpJob job, RunInterrupt& interrupt);
  void open(Wakeup& wakeup) override;
  Step step() override;
  void close() override;
  void fail(std::exception_ptr error) override;

 private:
  void begin();
  bool suits_any_thread() const;
  DumpJob job_;
  RunInterrupt& interrupt_;
  Wakeup* wakeup_ = nullptr;
  std::unique_ptr<DumpRun> run_;
  std::int64_t frames_before_ = 0;  // of a first reading
  bool begun_ = false;
  std::exception_ptr error_;
};

}  // namespace saccade
