// A source that does what a test tells it: frames of a test pattern, then an end, a fault, an exception or silence.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "pipeline/source/frame/frame_source.h"
#include "pipeline/source/open.h"

namespace saccade::test {

struct Script {
  std::string uri = "test://box?size=320x200&rate=30&frames=60";
  enum class Then : std::uint8_t { kEnd, kFail, kThrow, kUseUpMemory, kWait } then = Then::kEnd;
  std::int64_t frames = 60;  // before that
  ErrorKind error_kind = ErrorKind::kInput;
  bool live = false;
  std::int64_t waited_ns = 0;               // that each frame claims to have waited for
  std::function<void(Frame&)> change = {};  // each frame, before it is given out
};

class ScriptedSource final : public FrameSource {
 public:
  explicit ScriptedSource(Script script) : script_(std::move(script)) {
    SourceConfig config;
    config.uri = script_.uri;
    frames_ = open_source(config);
    info_ = frames_->info();
    info_.live = script_.live;
    fault_ = {script_.error_kind, script_.then == Script::Then::kFail ? "scripted: broken" : "", Hint::kAllowNetwork};
  }
  ReadStatus next(Frame& out) override {
    if (interrupted_) return ReadStatus::kEnd;
    if (counters_.frames < script_.frames) {
      const ReadStatus status = frames_->next(out);
      if (status != ReadStatus::kOk) return status;
      if (script_.change) script_.change(out);
      ++counters_.frames;
      counters_.waited_ns += script_.waited_ns;
      return status;
    }
    switch (script_.then) {
      case Script::Then::kEnd:
        return ReadStatus::kEnd;
      case Script::Then::kFail:
        return ReadStatus::kFailed;
      case Script::Then::kThrow:
        throw std::runtime_error("the reader fell over");
      case Script::Then::kUseUpMemory:
        throw std::bad_alloc();
      case Script::Then::kWait:
        break;
    }
    while (!interrupted_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return ReadStatus::kFailed;
  }
  void interrupt() override { interrupted_ = true; }
  bool seek(std::int64_t pts_ns) override {
    if (script_.then == Script::Then::kUseUpMemory) throw std::bad_alloc();
    return FrameSource::seek(pts_ns);
  }
  void recycle(Frame frame) override { frames_->recycle(std::move(frame)); }

 private:
  const Script script_;
  std::unique_ptr<FrameSource> frames_;
  std::atomic<bool> interrupted_{false};
};

}  // namespace saccade::test
