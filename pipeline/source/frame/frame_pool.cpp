#include "pipeline/source/frame/frame_pool.h"

#include <new>
#include <utility>

extern "C" {
#include <libavutil/buffer.h>
#include <libavutil/frame.h>
#include <libavutil/pixfmt.h>
}

namespace saccade {

AvFramePtr FrameShells::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!shells_.empty()) {
      AvFramePtr shell = std::move(shells_.back());
      shells_.pop_back();
      return shell;
    }
  }
  AvFramePtr shell(av_frame_alloc());
  if (!shell) throw std::bad_alloc();
  return shell;
}

void FrameShells::give(AvFramePtr shell) {
  if (!shell) return;
  av_frame_unref(shell.get());
  const std::lock_guard lock(mutex_);
  if (shells_.capacity() == 0) shells_.reserve(kKept);
  if (shells_.size() < kKept) shells_.push_back(std::move(shell));
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

AvFramePtr I420Pool::take(AvFramePtr shell, Planes& planes) {
  AVBufferRef* buffer = av_buffer_pool_get(pool_);
  if (buffer == nullptr) throw std::bad_alloc();
  shell->buf[0] = buffer;
  shell->format = AV_PIX_FMT_YUV420P;
  shell->width = width_px_;
  shell->height = height_px_;
  for (std::size_t p = 0; p < 3; ++p) {
    shell->data[p] = buffer->data + offsets_[p];
    shell->linesize[p] = pitches_[p];
    planes[p] = {shell->data[p], pitches_[p], p == 0 ? width_px_ : (width_px_ + 1) / 2,
                 p == 0 ? height_px_ : (height_px_ + 1) / 2};
  }
  return shell;
}

AvFramePtr I420Pool::share(const AVFrame& frame, AvFramePtr shell) {
  if (av_frame_ref(shell.get(), &frame) < 0) throw std::bad_alloc();
  return shell;
}

}  // namespace saccade
