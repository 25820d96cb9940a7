// Frames on the device are rotated upright where they lie.
#pragma once

#include "kernels/frame_view.h"
#include "pipeline/source/ffmpeg/av.h"
#include "pipeline/source/ffmpeg/orientation.h"

namespace saccade {

// Whether this build can rotate such a frame on the device.
bool can_rotate_on_device(const AVFrame& frame);

// Makes frames of rotated size on the device, from a pool of their own.
class DeviceRotator {
 public:
  // In place: `frame` is another buffer of that device afterwards. Throws Error.
  void rotate(AVFrame& frame, PixelLayout layout, const Orientation& orientation);

 private:
  void make_pool(const AVFrame& frame, int width, int height);
  BufferPtr pool_;  // an AVHWFramesContext
  int width_ = 0;
  int height_ = 0;
  int format_ = -1;
};

}  // namespace saccade
