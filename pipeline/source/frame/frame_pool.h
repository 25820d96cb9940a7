// AVFrames that circulate, so that a running stream allocates none.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "pipeline/source/frame/frame.h"

struct AVBufferPool;

namespace saccade {

// AVFrames without planes. take() and give() from any thread; give() lets the planes go at once.
class EmptyFrames {
 public:
  AvFramePtr take();  // throws std::bad_alloc
  void give(AvFramePtr frame);

 private:
  static constexpr std::size_t kKept = 64;
  std::mutex mutex_;
  std::vector<AvFramePtr> frames_;
};

// I420 pictures of one size, from buffers that return to the pool when their last frame goes.
class I420Pool {
 public:
  struct Plane {
    std::uint8_t* data = nullptr;
    std::ptrdiff_t pitch_bytes = 0;
    int width = 0;
    int height = 0;
  };
  using Planes = std::array<Plane, 3>;

  I420Pool(int width_px, int height_px);
  ~I420Pool();
  I420Pool(const I420Pool&) = delete;
  I420Pool& operator=(const I420Pool&) = delete;

  AvFramePtr take(AvFramePtr empty, Planes& planes);                // planes: writable, undefined content
  static AvFramePtr share(const AVFrame& frame, AvFramePtr empty);  // another reference to the same picture

 private:
  int width_px_;
  int height_px_;
  std::array<std::size_t, 3> offsets_{};
  std::array<int, 3> pitches_{};
  AVBufferPool* pool_ = nullptr;
};

}  // namespace saccade
