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
#include "app/input_identity.h"
#include "app/options/options.h"
#include "app/run_interrupt.h"
#include "pipeline/run/session.h"

namespace saccade {

struct DumpOutcome {
  enum class Kind : std::uint8_t { kComplete, kDamaged, kInterrupted, kStopped, kSkipped } kind = Kind::kComplete;
  std::string directory;
  Json result;         // the manifest (absent facts when interrupted) and `path`
  std::string damage;  // kDamaged: what was wrong
  Fault fault;         // of the stream, where it broke; `what` is empty: it did not
};

// What stderr says of an interrupted run.
std::string interrupted_text(const std::string& directory, std::int64_t emissions);

// The steps of a run, in their order. Each throws Error: bad input or usage before anything was written, a failed write
// at any time; then give_up() is the last step. One thread at a time.
class DumpRun {
 public:
  enum class Step : std::uint8_t { kWorked, kNothing, kEnded };

  // Opens the input and starts decoding, unless the folder holds this very dump. `options` outlives the run. on_ready:
  // called, on any thread, when step(false) may have work again.
  // kept: textures of other runs, which outlive this one; null: none.
  DumpRun(const Options& options, const std::string& uri, const std::string& directory, RunInterrupt& interrupt,
          const std::function<void()>& on_ready = {}, KeptTextures* kept = nullptr);
  ~DumpRun();
  bool skipped() const { return session_ == nullptr; }  // then finish() is next
  bool ready() const;                                   // begin() would not wait for the source
  void begin();                                         // the first frame, the folder, the writer
  Step step(bool may_wait);                             // a frame; not waiting: kNothing where none can go on
  void give_up();                                       // what was sampled is written, without a manifest
  DumpOutcome finish();                                 // after kEnded
  bool ends_by_chance() const;                          // after kEnded: over_again() could give other pixels
  std::int64_t frames() const;

 private:
  void say_what_runs() const;
  void stop_all();
  ProgressState progress_state() const;
  DumpFacts facts() const;
  DumpOutcome outcome();
  DumpOutcome skipped_outcome() const;

  const Options& options_;
  const std::string uri_;
  const std::string directory_;
  RunInterrupt& interrupt_;
  const std::function<void()> on_ready_;
  TargetLock lock_;
  InputHash hash_;
  std::unique_ptr<Session> session_;  // null: skipped
  std::optional<RunInterrupt::Scope> scope_;
  std::chrono::steady_clock::time_point begin_;
  bool hash_came_late_ = false;  // meta.json lacks it
  std::optional<EmissionQueue> emissions_;
  std::optional<DumpWriter> writer_;
  std::optional<Progress> progress_;
  Emission* slot_ = nullptr;
};

// Note [Damage over again]
// What FFmpeg makes of damage depends on how many threads it has, which is a matter of the machine and of what runs
// beside it. What NVDEC makes of it depends on what its surfaces held before: also a new decoder's memory holds what
// the process freed. So a damaged input that can be read twice is decoded over again, on the CPU by one thread, and its
// dump has the same bytes on every machine, alone or among many. Where the GPU is required, a new decoder sees to it
// that no whole picture of another video shows; more can't be done there.
Options over_again(const Options& options, const std::string& uri);

// All steps of one input, on the calling thread; over again where it is damaged.
DumpOutcome dump_input(const Options& options, const std::string& uri, const std::string& directory,
                       RunInterrupt& interrupt);

}  // namespace saccade
