// Frames that the caller has: no reader brings them, they go into the session by Session::push().
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "pipeline/source/frame/frame_source.h"

namespace saccade {

// As a source it only tells what the frames are, counts them, and has an end. next() waits for that.
class PushedSource final : public FrameSource {
 public:
  explicit PushedSource(StreamInfo info) { info_ = std::move(info); }

  void note_frame();  // the caller's thread, before finish()
  void finish();      // likewise: no frame follows

  ReadStatus next(Frame& out) override;
  void interrupt() override { finish(); }
  void recycle(Frame) override {}

 private:
  std::mutex mutex_;
  std::condition_variable ended_changed_;
  bool ended_ = false;
};

}  // namespace saccade
