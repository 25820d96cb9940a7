// A decoded frame: reference-counted planes (an AVFrame behind it) and the view that describes them.
#pragma once

#include <cstdint>
#include <memory>

#include "kernels/frame_view.h"

struct AVFrame;

namespace saccade {

struct AvFrameDeleter {
  void operator()(AVFrame* frame) const noexcept;
};
using AvFramePtr = std::unique_ptr<AVFrame, AvFrameDeleter>;

// Whose clock said when a live frame was captured.
enum class CaptureClock : std::uint8_t {
  kArrival,  // nobody's: its arrival stands in
  kDriver,   // the camera driver's, on this machine
  kSender,   // the sender's, by its RTCP reports: right when both machines keep the same time
};

// When a live frame came to be, by the steady clock. All 0 for what is not live.
struct FrameOrigin {
  std::int64_t captured_ns = 0;
  std::int64_t arrived_ns = 0;  // its last packet came out of the demuxer
  CaptureClock clock = CaptureClock::kArrival;
  std::int32_t gaps = 0;  // how often the stream was interrupted before this frame
};

// Move-only. An empty frame has no planes. Any thread may own it; the planes are read-only.
class Frame {
 public:
  Frame() = default;
  Frame(AvFramePtr planes, const FrameView& view) : planes_(std::move(planes)), view_(view) {}

  explicit operator bool() const { return planes_ != nullptr; }
  const FrameView& view() const { return view_; }
  FrameView& view() { return view_; }
  const FrameOrigin& origin() const { return origin_; }
  FrameOrigin& origin() { return origin_; }
  AvFramePtr release() { return std::move(planes_); }  // for a pool that reuses the shell

 private:
  AvFramePtr planes_;
  FrameView view_;
  FrameOrigin origin_;
};

}  // namespace saccade
