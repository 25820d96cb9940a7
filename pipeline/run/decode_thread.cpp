#include "pipeline/run/decode_thread.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "gpu/nvtx_range.h"
#include "pipeline/clock.h"

namespace saccade {
DecodeThread::DecodeThread(FrameSource& source, FrameQueue& queue, TraceWriter* trace, Log log)
    : source_(source), queue_(queue), trace_(trace), log_(std::move(log)) {
  if (trace_ != nullptr) trace_->name_thread(kDecodeTraceThread, "decode");
  thread_ = std::thread([this] { run(); });
}

DecodeThread::~DecodeThread() { stop(); }

void DecodeThread::join() {
  if (thread_.joinable()) thread_.join();
}

void DecodeThread::stop() {
  stop_ = true;
  if (!thread_.joinable()) return;
  source_.interrupt();
  queue_.close_now();
  thread_.join();
}

ReadStatus DecodeThread::next(Frame& frame) {
  const NvtxRange range("decode");
  return source_.next(frame);
}

void DecodeThread::run() {
  try {
    while (!stop_) {
      Frame frame;
      const std::int64_t begin_ns = steady_now_ns();
      const std::int64_t waited_before_ns = source_.counters().waited_ns;
      const ReadStatus status = next(frame);
      const std::int64_t end_ns = steady_now_ns();
      if (status == ReadStatus::kAgain) continue;
      if (status == ReadStatus::kFailed && !stop_) failed_ = true;
      if (status != ReadStatus::kOk) break;
      const std::int64_t waited_ns = source_.counters().waited_ns - waited_before_ns;
      const std::int64_t worked_ns = std::max<std::int64_t>(end_ns - begin_ns - waited_ns, 0);
      times_.record(worked_ns);
      last_ns_ = worked_ns;
      if (trace_ != nullptr) trace_->complete("decode", kDecodeTraceThread, begin_ns, end_ns, frame.view().sequence);
      if (!queue_.push(std::move(frame))) break;
    }
  } catch (const std::exception&) {
    fault_ = caught_fault(ErrorKind::kInput);
  }
  if (!fault_.what.empty()) {
    log_.error("decode thread: {}", one_line(fault_));
    failed_ = true;
  }
  queue_.close();
}

}  // namespace saccade
