#include "app/dump/dump_task.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "app/dump/kept.h"
#include "app/files/input_identity.h"
#include "pipeline/backend/backend.h"

namespace saccade {
namespace {

constexpr int kThreadsOnGpu = 4;
constexpr int kSlotsPerOpener = 8;  // on many cores: opening is a tenth of the work of a clip of two seconds

}  // namespace

int default_jobs(Backend backend, int cores) {
  const int streams = traits(backend).streams;
  return streams > 0 ? streams : cores;
}

StreamsConfig streams_config(Backend backend, int jobs) {
  if (const int launchers = traits(backend).launchers; launchers > 0) return {.slots = jobs, .launchers = launchers};
  StreamsConfig config{.slots = jobs, .launchers = jobs, .closers = 0};
  config.openers = std::max(config.openers, jobs / kSlotsPerOpener);
  return config;
}

// NVDEC needs few threads to be kept busy, all streams together, and each costs a surface.
void share_machine(Options& options, int jobs, int cores) {
  const int threads = decodes_on_texture_device(options) ? kThreadsOnGpu : cores;
  if (options.source.threads == 0) options.source.threads = std::max(threads / jobs, 1);
  if (options.progress == ProgressMode::kAuto) options.progress = ProgressMode::kNone;
}

// What can't be read twice has new decoders from the start.
DumpTask::DumpTask(DumpJob job, RunInterrupt& interrupt) : job_(std::move(job)), interrupt_(interrupt) {
  job_.options.source.new_decoders = regular_file(job_.uri).empty();
  job_.options.source.stop = interrupt.make_stop();
}

bool DumpTask::suits_any_thread() const {
  const PipelineConfig& pipeline = job_.options.pipeline;
  return saccade::suits_any_thread(pipeline.backend, pipeline.upload);
}

void DumpTask::open(Wakeup& wakeup) {
  if (run_ != nullptr) {  // the first reading's writer may still read wakeup_, which stays
    run_->start_over();
  } else {
    wakeup_ = &wakeup;
    const auto on_ready = [this] { wakeup_->notify(); };
    run_ = std::make_unique<DumpRun>(job_.options, job_.uri, job_.directory, interrupt_, on_ready, job_.kept,
                                     job_.on_writing);
  }
  if (suits_any_thread()) begin();
}

// Makes memory and files: all streams of a launcher would wait for that, so it is an opener's where it can be.
void DumpTask::begin() {
  if (begun_ || run_->skipped()) return;
  run_->begin();
  begun_ = true;
}

StreamTask::Step DumpTask::step() {
  if (run_->skipped()) return Step::kEnded;
  if (!begun_) {
    if (!run_->ready()) return Step::kNothing;
    begin();
  }
  const DumpRun::Step step = run_->step(false);
  if (step == DumpRun::Step::kNothing) return Step::kNothing;
  if (job_.on_frames) job_.on_frames(frames_before_ + run_->frames());
  if (step != DumpRun::Step::kEnded) return Step::kWorked;
  if (!run_->ends_by_chance()) return Step::kEnded;
  frames_before_ += run_->frames();
  begun_ = false;
  if (!suits_any_thread()) run_->end_reading();
  return Step::kAgain;
}

void DumpTask::fail(std::exception_ptr error) { error_ = std::move(error); }

void DumpTask::close() {
  DumpEnd end;
  try {
    if (error_ == nullptr) {
      end.outcome = run_->finish();
    } else if (run_ != nullptr) {
      run_->give_up();
    }
  } catch (...) {
    error_ = std::current_exception();
  }
  run_.reset();  // what it holds of the folder and the device goes before anybody hears of the end
  end.error = error_;
  job_.on_end(end);
}

}  // namespace saccade
