// One input into one folder: a session on the calling thread, a writer on its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/dump/dump_queue.h"
#include "app/dump/dump_target.h"
#include "app/dump/dump_writer.h"
#include "app/dump/meta.h"
#include "app/dump/progress.h"
#include "app/dump/views/views_files.h"
#include "app/files/input_identity.h"
#include "app/options/options.h"
#include "app/process/run_interrupt.h"
#include "pipeline/run/session.h"

namespace saccade {

struct DumpOutcome {
  enum class Kind : std::uint8_t { kComplete, kDamaged, kInterrupted, kStopped, kSkipped } kind = Kind::kComplete;
  std::string directory;
  Json result;         // the manifest (absent facts when interrupted) and `path`
  std::string damage;  // kDamaged: what was wrong
  Fault fault;         // of the stream, where it broke; `what` is empty: it did not
  bool lost = false;   // `fault` is the network's or the disk's: see StreamEnd
};

// What stderr says of an interrupted run.
std::string interrupted_text(const std::string& directory, std::int64_t emissions);

// The steps of a run, in their order. Each throws Error: bad input or usage before anything was written, a failed write
// at any time; then give_up() is the last step. One thread at a time.
class DumpRun {
 public:
  enum class Step : std::uint8_t { kWorked, kNothing, kEnded };

  // Opens the input and starts decoding, unless the folder holds this very dump. on_ready: called, on any thread, when
  // step(false) may have work again.
  // kept: textures of other runs, which outlive this one; null: none. on_writing: see WaitsForDisk.
  DumpRun(const Options& options, const std::string& uri, const std::string& directory, RunInterrupt& interrupt,
          const std::function<void()>& on_ready = {}, KeptTextures* kept = nullptr,
          const std::function<void(bool)>& on_writing = {});
  ~DumpRun();
  bool skipped() const { return skipped_; }  // then finish() is next
  bool ready() const;                        // begin() would not wait for the source
  void begin();                              // the first frame, the folder, the writer
  Step step(bool may_wait);                  // a frame; not waiting: kNothing where none can go on
  void give_up();                            // what was sampled is written, without a manifest
  DumpOutcome finish();                      // after kEnded
  // After kEnded: another reading could give other pixels, and start_over() is to be next, then begin().
  bool ends_by_chance() const;
  // Ends the first reading: its session is gone. start_over() does so, where that need not be on this very thread.
  void end_reading();
  void start_over();            // opens the input again; the folder stays locked, the clock and the counts go on
  std::int64_t frames() const;  // of this reading
  std::string written() const;  // what an interrupt would leave in the folder, in words

 private:
  void open();
  void say_what_runs() const;
  void stop_all();
  ProgressState progress_state() const;
  DumpResult facts() const;
  DumpOutcome outcome();
  DumpOutcome skipped_outcome() const;

  Options options_;
  const std::string uri_;
  std::string directory_;
  RunInterrupt& interrupt_;
  const std::function<void()> on_ready_;
  KeptTextures* const kept_;
  const std::function<void(bool)> on_writing_;
  TargetLock lock_;
  InputHash hash_;
  bool skipped_ = false;
  std::optional<DumpOutcome> first_reading_;  // what it would have come to, had it been interrupted; none: it goes on
  bool cut_short_ = false;                    // interrupted before the second one had a frame: the first one's stays
  std::unique_ptr<Session> session_;          // null: skipped, or between two readings
  std::optional<RunInterrupt::Scope> scope_;
  std::chrono::steady_clock::time_point begin_;
  bool hash_came_late_ = false;  // meta.json lacks it
  std::optional<EmissionQueue> emissions_;
  std::optional<DumpWriter> writer_;
  std::optional<ViewsFiles> views_;
  std::optional<Progress> progress_;
  Emission* slot_ = nullptr;
};

// Note [Damage over again]
// What FFmpeg makes of damage depends on how many threads it has, which is a matter of the machine and of what runs
// beside it. What NVDEC makes of it depends on what its surfaces held before: also a new decoder's memory holds what
// the process freed. So a damaged input that can be read twice is decoded over again, on the CPU by one thread, and its
// dump has the same bytes on every machine, alone or among many. Where the GPU is required, a new decoder sees to it
// that no whole picture of another video shows; more can't be done there. Both readings are one run: one lock on the
// folder, so that no other run gets in between, one wall_s, and counts that never go back: until the second reading has
// come as far, the first one's are shown. Who interrupts before it has a frame keeps what the first one sampled.

// All steps of one input, on the calling thread; over again where it is damaged.
DumpOutcome dump_input(const Options& options, const std::string& uri, const std::string& directory,
                       RunInterrupt& interrupt);

}  // namespace saccade
