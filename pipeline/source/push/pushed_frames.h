// From a picture in the caller's memory to a frame that the texture takes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "kernels/frame_view.h"
#include "pipeline/source/frame/stream_info.h"

namespace saccade {

// How the caller's samples lie; see saccade_pixels.
enum class PushedPixels : std::uint8_t { kRgb8, kBgr8, kRgb8Planar, kRgba8, kGray8, kI420, kNv12, kP010 };

struct PushedFormat {
  PushedPixels pixels = PushedPixels::kRgb8;
  int width_px = 0;
  int height_px = 0;
  ColorSpec color;
  bool matrix_given = false;  // by the caller; else a default rule chose
  bool range_given = false;
  float sar = 1.0f;
  double fps = 0;  // 0: unknown
};

// Facts for people; the pixel format by FFmpeg's name.
StreamInfo pushed_info(const PushedFormat& format);

// One picture: the first sample of each plane's top row. A pitch of 0 stands for rows without padding.
struct PushedPicture {
  std::array<PlaneView, 3> planes;
  MemorySpace space = MemorySpace::kHost;
  int device = 0;
  void* stream = nullptr;  // kCuda: the cudaStream_t in whose order the planes are the caller's
  std::int64_t pts_ns = 0;
  std::optional<std::vector<PixelRect>> may_differ = {};  // from the picture before; see FrameView
};

// Pictures that are no texture's format (R'G'B' of three samples, gray) are completed in memory of its own; all others
// are only looked at. Numbers the frames. One thread.
class PushedFrames {
 public:
  explicit PushedFrames(const PushedFormat& format);
  ~PushedFrames();
  PushedFrames(PushedFrames&&) noexcept;
  PushedFrames& operator=(PushedFrames&&) noexcept;

  FrameView like(MemorySpace space, int device) const;  // what take() will give, without samples
  // Valid while the picture is, and until the next call. On a device the completing work is queued in picture.stream.
  // Throws UsageError naming what is wrong with the planes; UnavailableError, DeviceError.
  FrameView take(const PushedPicture& picture);

 private:
  class OnDevice;
  FrameView on_host(const PushedPicture& picture, FrameView view);

  PushedFormat format_;
  std::int64_t sequence_ = 0;
  std::vector<std::uint8_t> completed_;  // RGBA, or the chroma that gray lacks
  bool completed_is_last_ = false;       // the last picture was completed there, not on a device
  std::unique_ptr<OnDevice> on_device_;
};

}  // namespace saccade
