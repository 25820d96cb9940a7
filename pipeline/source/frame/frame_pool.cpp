#include "pipeline/source/frame/frame_pool.h"

#include <new>
#include <utility>

extern "C" {
#include <libavutil/buffer.h>
#include <libavutil/frame.h>
#include <libavutil/pixfmt.h>
}

namespace saccade {

AvFramePtr EmptyFrames::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!frames_.empty()) {
      AvFramePtr empty = std::move(frames_.back());
      frames_.pop_back();
      return empty;
    }
  }
  AvFramePtr empty(av_frame_alloc());
  if (!empty) throw std::bad_alloc();
  return empty;
}

void EmptyFrames::give(AvFramePtr frame) {
  if (!frame) return;
  av_frame_unref(frame.get());
  const std::lock_guard lock(mutex_);
  if (frames_.capacity() == 0) frames_.reserve(kKept);
  if (frames_.size() < kKept) frames_.push_back(std::move(frame));
}

I420Pool::I420Pool(int width_px, int height_px) : width_px_(width_px), height_px_(height_px) {
  const int chroma_width = (width_px + 1) / 2;
  const int chroma_height = (height_px + 1) / 2;
  std::size_t size = 0;
  for (int p = 0; p < 3; ++p) {
    const auto i = static_cast<std::size_t>(p);
    pitches_[i] = ((p == 0 ? width_px : chroma_width) + 63) / 64 * 64;
    offsets_[i] = size;
    size += static_cast<std::size_t>(pitches_[i]) * static_cast<std::size_t>(p == 0 ? height_px : chroma_height);
  }
  pool_ = av_buffer_pool_init(size + 64, nullptr);
  if (pool_ == nullptr) throw std::bad_alloc();
}

I420Pool::~I420Pool() { av_buffer_pool_uninit(&pool_); }

AvFramePtr I420Pool::take(AvFramePtr empty, Planes& planes) {
  AVBufferRef* buffer = av_buffer_pool_get(pool_);
  if (buffer == nullptr) throw std::bad_alloc();
  empty->buf[0] = buffer;
  empty->format = AV_PIX_FMT_YUV420P;
  empty->width = width_px_;
  empty->height = height_px_;
  for (std::size_t p = 0; p < 3; ++p) {
    empty->data[p] = buffer->data + offsets_[p];
    empty->linesize[p] = pitches_[p];
    planes[p] = {empty->data[p], pitches_[p], p == 0 ? width_px_ : (width_px_ + 1) / 2,
                 p == 0 ? height_px_ : (height_px_ + 1) / 2};
  }
  return empty;
}

AvFramePtr I420Pool::share(const AVFrame& frame, AvFramePtr empty) {
  if (av_frame_ref(empty.get(), &frame) < 0) throw std::bad_alloc();
  return empty;
}

}  // namespace saccade
