#include "pipeline/source/frame/frame.h"

#include <cstddef>
#include <cstring>
#include <new>
#include <utility>

extern "C" {
#include <libavutil/frame.h>
#include <libavutil/hwcontext.h>
}

namespace saccade {
namespace {

const char kOriginTag = 0;  // its address marks buffers that hold a FrameOrigin

}  // namespace

void AvFrameDeleter::operator()(AVFrame* frame) const noexcept { av_frame_free(&frame); }

void attach_origin(AVFrame& frame, const FrameOrigin& origin) {
  auto* const held = static_cast<std::uint8_t*>(av_malloc(sizeof origin));
  if (held == nullptr) throw std::bad_alloc();
  std::memcpy(held, &origin, sizeof origin);
  const auto free_it = [](void*, std::uint8_t* data) { av_free(data); };
  AVBufferRef* const buffer = av_buffer_create(held, sizeof origin, free_it, const_cast<char*>(&kOriginTag), 0);
  if (buffer == nullptr) {
    av_free(held);
    throw std::bad_alloc();
  }
  av_buffer_unref(&frame.opaque_ref);
  frame.opaque_ref = buffer;
}

FrameOrigin attached_origin(const AVFrame& frame) {
  FrameOrigin origin;
  if (frame.opaque_ref == nullptr || av_buffer_get_opaque(frame.opaque_ref) != &kOriginTag) return origin;
  std::memcpy(&origin, frame.opaque_ref->data, sizeof origin);
  return origin;
}

DevicePlace device_place(const AVFrame& frame) {
  if (frame.format != AV_PIX_FMT_CUDA || frame.hw_frames_ctx == nullptr) return {};
  const auto& frames = *reinterpret_cast<const AVHWFramesContext*>(frame.hw_frames_ctx->data);
  return *static_cast<const DevicePlace*>(frames.device_ctx->user_opaque);
}

FrameView view_planes(const AVFrame& picture, PixelLayout layout) {
  FrameView view;
  view.layout = layout;
  view.space = picture.format == AV_PIX_FMT_CUDA ? MemorySpace::kCuda : MemorySpace::kHost;
  const DevicePlace place = device_place(picture);
  view.device = place.device;
  view.stream = place.stream;
  view.width_px = picture.width;
  view.height_px = picture.height;
  for (std::size_t p = 0; p < view.planes.size(); ++p) view.planes[p] = {picture.data[p], picture.linesize[p]};
  return view;
}

Frame::Frame(AvFramePtr picture, const PictureFormat& format, std::int64_t pts_ns, std::int64_t sequence)
    : planes_(std::move(picture)), view_(view_planes(*planes_, format.layout)), origin_(attached_origin(*planes_)) {
  view_.shift = format.shift;
  view_.color = format.color;
  view_.sar = format.sar;
  view_.pts_ns = pts_ns;
  view_.sequence = sequence;
}

void Frame::place(std::int64_t pts_ns, std::int64_t sequence, std::int32_t gaps) {
  view_.pts_ns = pts_ns;
  view_.sequence = sequence;
  origin_.gaps = gaps;
}

void Frame::differs_in(std::vector<PixelRect> rects) {
  may_differ_ = std::move(rects);
  view_.may_differ = may_differ_;
}

}  // namespace saccade
