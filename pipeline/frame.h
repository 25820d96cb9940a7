// A decoded frame: reference-counted planes (an AVFrame behind it) and the view that describes them.
#pragma once

#include <memory>

#include "kernels/frame_view.h"

struct AVFrame;

namespace saccade {

struct AvFrameDeleter {
  void operator()(AVFrame* frame) const noexcept;
};
using AvFramePtr = std::unique_ptr<AVFrame, AvFrameDeleter>;

// Move-only. An empty frame has no planes. Any thread may own it; the planes are read-only.
class Frame {
 public:
  Frame() = default;
  Frame(AvFramePtr planes, const FrameView& view) : planes_(std::move(planes)), view_(view) {}

  explicit operator bool() const { return planes_ != nullptr; }
  const FrameView& view() const { return view_; }
  FrameView& view() { return view_; }
  AvFramePtr release() { return std::move(planes_); }  // for a pool that reuses the shell

 private:
  AvFramePtr planes_;
  FrameView view_;
};

}  // namespace saccade
