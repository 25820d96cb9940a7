#include "pipeline/source/convert/device_rotation.h"

#include <fmt/format.h>

#include <new>

#include "gpu/device_error.h"
#include "pipeline/error.h"
#include "pipeline/source/ffmpeg/hardware.h"
#include "pipeline/source/frame/frame.h"

#if defined(SACCADE_CUDA)
#include "kernels/cuda/frames/rotate_frame.h"
#endif

extern "C" {
#include <libavutil/hwcontext.h>
}

namespace saccade {
namespace {

void check(int code, const char* what) {
  if (code < 0) throw UnavailableError(fmt::format("{}: {}", what, av_error_text(code)), Hint::kNone, errno_of(code));
}

}  // namespace

bool can_rotate_on_device(const AVFrame& frame) {
#if defined(SACCADE_CUDA)
  const AVPixelFormat format = sample_format(frame);
  return is_on_device(frame) && frame.hw_frames_ctx != nullptr && frame.width % 2 == 0 && frame.height % 2 == 0 &&
         (format == AV_PIX_FMT_NV12 || format == AV_PIX_FMT_P010LE || format == AV_PIX_FMT_P016LE);
#else
  static_cast<void>(frame);
  return false;
#endif
}

void DeviceRotator::make_pool(const AVFrame& frame, int width, int height) {
  const AVPixelFormat format = sample_format(frame);
  if (pool_ && width == width_ && height == height_ && format == format_) return;
  const auto& made_by = *reinterpret_cast<const AVHWFramesContext*>(frame.hw_frames_ctx->data);
  pool_.reset(av_hwframe_ctx_alloc(made_by.device_ref));
  if (!pool_) throw std::bad_alloc();
  auto& context = *reinterpret_cast<AVHWFramesContext*>(pool_->data);
  context.format = AV_PIX_FMT_CUDA;
  context.sw_format = format;
  context.width = width;
  context.height = height;
  check(av_hwframe_ctx_init(pool_.get()), "memory on the GPU for rotated frames");
  width_ = width;
  height_ = height;
  format_ = format;
}

void DeviceRotator::rotate(AVFrame& frame, PixelLayout layout, const Orientation& orientation) {
#if defined(SACCADE_CUDA)
  make_pool(frame, orientation.transpose ? frame.height : frame.width,
            orientation.transpose ? frame.width : frame.height);
  const AvFramePtr rotated(av_frame_alloc());
  if (!rotated) throw std::bad_alloc();
  check(av_hwframe_get_buffer(pool_.get(), rotated.get(), 0), "memory on the GPU for a rotated frame");
  if (av_frame_copy_props(rotated.get(), &frame) < 0) throw std::bad_alloc();
  const FrameView from = view_planes(frame, layout);
  DevicePlanes to;
  for (std::size_t p = 0; p < 2; ++p) {
    to.plane[p] = rotated->data[p];
    to.pitch_bytes[p] = rotated->linesize[p];
  }
  try {
    rotate_frame(from, to, {orientation.transpose, orientation.hflip, orientation.vflip});
  } catch (const DeviceError& error) {
    throw_fault(fault_of(error), "rotating a frame on the GPU");
  }
  av_frame_unref(&frame);
  av_frame_move_ref(&frame, rotated.get());
#else
  static_cast<void>(frame);
  static_cast<void>(layout);
  static_cast<void>(orientation);
  check(AVERROR(ENOSYS), "rotating a frame on the GPU");
#endif
}

}  // namespace saccade
